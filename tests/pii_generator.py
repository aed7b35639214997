"""Invented Spanish sentences, invoices and letters with personal data in the many forms in which people write them.

``python -m tests.pii_generator`` writes the two frozen sets again (same seeds, same bytes):
``tests/data/pii_set.jsonl`` (the set that the bars are asserted on) and ``tests/data/pii_hard.jsonl`` (other seed,
other templates, other names, harder forms). Check digits are computed here, by the published rules, without the
libraries that the product uses. Bank 9999 does not exist. Both sets were frozen before the recognisers were tuned.
"""

import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data"
SETS = {"set": (20261130, 3000), "hard": (7119, 1500)}
BREAKABLE = {"NIF", "NIE", "CIF", "IBAN", "EMAIL", "NAF", "CCC", "TARJETA"}

FIRST = (
    "María|Carmen|Josefa|Ana María|Isabel|Laura|Cristina|Marta|Lucía|Francisca|Antonia|Dolores|Sara|Paula|Elena|Raquel|"
    "Pilar|Manuela|Mercedes|Rosario|Beatriz|Nuria|Silvia|Julia|Irene|Patricia|Montserrat|Andrea|Rocío|Mónica|Alba|Ángela|"
    "Sonia|Alicia|Sandra|Susana|Marina|Yolanda|Natalia|Eva|Inmaculada|Claudia|Esther|Verónica|Noelia|Ainhoa|Nerea|Itziar|"
    "Leire|Uxía|Sabela|Mireia|Laia|Meritxell|Antonio|José|Manuel|Francisco|David|Juan|José Antonio|Javier|Daniel|"
    "Francisco Javier|Jesús|Carlos|Alejandro|Miguel|José Luis|Rafael|Pedro|Pablo|Ángel|Sergio|Fernando|Jorge|Luis|"
    "Alberto|Álvaro|Adrián|Diego|Raúl|Iván|Rubén|Enrique|Óscar|Ramón|Vicente|Andrés|Joaquín|Santiago|Víctor|Eduardo|"
    "Roberto|Jaime|Ignacio|Alfonso|Ricardo|Salvador|Emilio|Julián|Tomás|Agustín|Gonzalo|Hugo|Iker|Unai|Gorka|Aitor|"
    "Jordi|Pau|Oriol|Xavier|Brais|Anxo|Juan Carlos|Luis Miguel|María José|María del Carmen|María Ángeles|Mohamed|Fátima|"
    "Ionut|Alina|Wei|Giulia|Dmitri|Yasmina"
).split("|")
LAST = (
    "García|Rodríguez|González|Fernández|López|Martínez|Sánchez|Pérez|Gómez|Martín|Jiménez|Ruiz|Hernández|Díaz|Moreno|"
    "Muñoz|Álvarez|Romero|Alonso|Gutiérrez|Navarro|Torres|Domínguez|Vázquez|Ramos|Gil|Ramírez|Serrano|Blanco|Molina|"
    "Morales|Suárez|Ortega|Delgado|Castro|Ortiz|Rubio|Marín|Sanz|Núñez|Iglesias|Medina|Garrido|Cortés|Castillo|Santos|"
    "Lozano|Guerrero|Cano|Prieto|Méndez|Cruz|Calvo|Gallego|Vidal|León|Márquez|Herrera|Peña|Flores|Cabrera|Campos|Vega|"
    "Fuentes|Carrasco|Diez|Caballero|Reyes|Nieto|Aguilar|Pascual|Santana|Herrero|Lorenzo|Montero|Hidalgo|Giménez|Ibáñez|"
    "Ferrer|Durán|Santiago|Benítez|Mora|Vicente|Vargas|Arias|Carmona|Crespo|Román|Pastor|Soto|Sáez|Velasco|Moya|Soler|"
    "Parra|Esteban|Bravo|Gallardo|Rojas|Etxebarria|Goikoetxea|Aguirre|Zabala|Urrutia|Puig|Ferrán|Roca|Casals|Capdevila|"
    "Bermúdez de Castro|de la Fuente|del Río|de la Torre|Ponce de León|Feijóo|Castiñeira|Souto|Barreiro|Popescu|El Amrani|"
    "Haddad|Rossi|Ivanova|Zhang|Ben Ali|García-Page|López-Ibor"
).split("|")
HARD_FIRST = (
    "Eleuterio|Visitación|Hermenegildo|Casilda|Eufemia|Leocadio|Iratxe|Eneko|Zuriñe|Koldo|Ander|Garazi|Amets|Maialen|"
    "Xabier|Bernat|Arnau|Queralt|Montse|Ferran|Roser|Carles|Iago|Antía|Breixo|Noa|Iria|Gala|Leo|Thiago|Izan|Aroa|Chloe|"
    "Samira|Abdelkader|Ousmane|Nadia|Oksana|Mihai|Gheorghe|Svetlana|Ying|Santino|Valentina|Milagros|Encarnación|Pura|"
    "Mª Teresa|M.ª Luisa|José Mª|Fco. Javier|J. Antonio|María de los Ángeles|Juan de Dios|Pepa|Paco|Lola|Nacho|Chelo|"
    "Concha|Maite|Begoña|Arantxa|Olga|Ramiro|Evaristo|Fermín|Gaspar|Horacio|Isidro|Lorena|Mateo|Nicolás|Olivia|Petra"
).split("|")
HARD_LAST = (
    "Ochoa|Larrañaga|Mendizábal|Ugarte|Arrizabalaga|Elizondo|Bilbao|Oyarzábal|Fuster|Grau|Bosch|Llorens|Pujol|Casanovas|"
    "Rovira|Esteve|Piñeiro|Outeiriño|Seoane|Lamas|Bouzas|Quintela|Valdés|Noriega|Cuesta|Escribano|Barrientos|Toledano|"
    "Matamoros|Cifuentes|Rebollo|Chamorro|Zapatero|Pizarro|Bustamante|Escudero|Maestre|Tejero|Palomares|Trujillo|"
    "de la Cruz|de las Heras|del Olmo|de los Santos|San José|Sanmartín|Diop|Ndiaye|Chen|Liu|Petrov|Dumitru|Kowalski|"
    "Silva|Pereira|dos Santos|Benali|Bouazza|O'Connor|Schmidt|Dubois|Nguyen|Quispe|Mamani|Huanca|Zambrano|Caicedo|"
    "Fernández-Villaverde|Díaz-Canel|Sáenz de Santamaría|Martínez de Irujo|Gómez-Acebo"
).split("|")
DOMAINS = "ejemplo.es|correo-inventado.com|despacho.example|gestoria-norte.es|mail.ejemplo.org|estudio.cat|taller.eus|servicios.net"
DOMAIN_LIST = DOMAINS.split("|")
STREETS = (
    "Mayor|Alcalá|de la Constitución|San Vicente|Ramón y Cajal|del Pilar|Real|Los Olmos|Federico García Lorca|Nueva|"
    "de Aragón|Santa Isabel|de las Acacias|Doctor Fleming|Príncipe de Vergara|Sol|Cervantes|Bellavista"
).split("|")
TOWNS = (
    "28013 Madrid|46002 Valencia|41001 Sevilla|50003 Zaragoza|48009 Bilbao|15001 A Coruña|29015 Málaga (Málaga)|"
    "08901 L'Hospitalet de Llobregat|33001 Oviedo|37001 Salamanca|06800 Mérida (Badajoz)|28801 Alcalá de Henares"
).split("|")
DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


@dataclass(frozen=True)
class Value:
    """A personal value in a text: ``form`` says how it was written."""

    kind: str
    start: int
    end: int
    form: str


@dataclass(frozen=True)
class Case:
    """A text with the places of its personal values."""

    id: str
    template: str
    text: str
    values: tuple[Value, ...]


# --- invented values, by the published rules -------------------------------------------------------------------


def dni(number: int) -> str:
    return f"{number:08d}{DNI_LETTERS[number % 23]}"


def nie(prefix: str, number: int) -> str:
    return f"{prefix}{number:07d}{DNI_LETTERS[int(str('XYZ'.index(prefix)) + f'{number:07d}') % 23]}"


def _cif_control(digits: str) -> int:
    odd = sum(sum(divmod(2 * int(d), 10)) for d in digits[0::2])
    return -(odd + sum(int(d) for d in digits[1::2])) % 10


def cif(letter: str, number: int) -> str:
    digits = f"{number:07d}"
    control = _cif_control(digits)
    return f"{letter}{digits}{'JABCDEFGHI'[control] if letter in 'PQRSNW' else control}"


def klm(letter: str, number: int) -> str:
    return f"{letter}{number:07d}{DNI_LETTERS[number % 23]}"


def iban_check(country: str, bban: str) -> str:
    moved = "".join(str(int(c, 36)) for c in f"{bban}{country}00")
    return f"{98 - int(moved) % 97:02d}"


def ccc(rng: random.Random) -> str:
    bank, office, account = "9999", f"{rng.randrange(10000):04d}", f"{rng.randrange(10**10):010d}"
    weights = (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)

    def control(digits: str) -> int:
        value = 11 - sum(int(d) * w for d, w in zip(digits, weights, strict=True)) % 11
        return {10: 1, 11: 0}.get(value, value)

    return f"{bank}{office}{control('00' + bank + office)}{control(account)}{account}"


def card(rng: random.Random) -> str:
    head = rng.choice(["4", "51", "55", "37"]) + "".join(rng.choices(string.digits, k=15))
    head = head[: 14 if head.startswith("37") else 15]
    total = sum(sum(divmod(2 * int(d), 10)) if i % 2 == 0 else int(d) for i, d in enumerate(reversed(head)))
    return head + str(-total % 10)


def naf(rng: random.Random) -> str:
    province, number = rng.randrange(1, 53), rng.randrange(10**6, 10**8)
    whole = province * 10**7 + number if number < 10**7 else int(f"{province:02d}{number:08d}")
    return f"{province:02d}{number:08d}{whole % 97:02d}"


def cadastral(rng: random.Random, *, rural: bool) -> str:
    letters = string.ascii_uppercase
    if rural:
        body = f"{rng.randrange(10**5):05d}{rng.choice('AB')}{rng.randrange(10**12):012d}"
    else:
        body = (
            f"{rng.randrange(10**7):07d}{''.join(rng.choices(letters, k=2))}{rng.randrange(10**4):04d}"
            f"{rng.choice(letters)}{rng.randrange(10**4):04d}"
        )
    alphabet = "ABCDEFGHIJKLMNÑOPQRSTUVWXYZ0123456789"
    control = ""
    for part in (body[:7] + body[14:], body[7:14] + body[14:]):
        total = 0
        for weight, c in zip((13, 15, 12, 5, 4, 17, 9, 21, 3, 7, 1), part, strict=True):
            total += weight * (int(c) if c.isdigit() else alphabet.index(c) + 1)
        control += "MQWERTYUIOPASDFGHJKLBZX"[total % 23]
    return body + control


# --- how people write them ---------------------------------------------------------------------------------------


def _groups(text: str, sizes: tuple[int, ...], glue: str) -> str:
    parts, at = [], 0
    for size in sizes:
        parts.append(text[at : at + size])
        at += size
    return glue.join([*parts, text[at:]] if at < len(text) else parts)


def write_nif(rng: random.Random, hard: bool) -> tuple[str, str]:
    if rng.random() < 0.12:
        value = klm(rng.choice("KLM"), rng.randrange(10**7))
        form = rng.choice(["klm", "klm-minúscula", "klm-guion"])
        return {"klm": value, "klm-minúscula": value.lower(), "klm-guion": f"{value[0]}-{value[1:-1]}-{value[-1]}"}[
            form
        ], form
    number = rng.randrange(10**6, 10**8)
    value = dni(number)
    dotted = f"{value[:2]}.{value[2:5]}.{value[5:8]}"
    forms = {
        "normal": value,
        "minúscula": value.lower(),
        "puntos-guion": f"{dotted}-{value[-1]}",
        "puntos": f"{dotted}{value[-1]}",
        "guion": f"{value[:-1]}-{value[-1]}",
        "espacio": f"{value[:-1]} {value[-1]}",
        "espacios": f"{value[:2]} {value[2:5]} {value[5:8]} {value[-1]}",
        "ES": f"ES{value}",
        "ES-guion": f"ES-{value}",
        "minúscula-puntos": f"{dotted}-{value[-1]}".lower(),
    }
    if hard:
        forms |= {
            "guion-raro": f"{value[:-1]}–{value[-1]}",
            "espacio-duro": f"{value[:-1]}\u00a0{value[-1]}",
            "guion-espacios": f"{value[:-1]} - {value[-1]}",
            "barra": f"{value[:-1]}/{value[-1]}",
            "es-minúscula": f"es {value.lower()}",
            "cuatro-cuatro": f"{value[:4]} {value[4:]}",
        }
    if number < 10**7:
        forms["sin-cero"] = value[1:]
        forms["sin-cero-puntos"] = f"{value[1]}.{value[2:5]}.{value[5:8]}-{value[-1]}"
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_nie(rng: random.Random, hard: bool) -> tuple[str, str]:
    value = nie(rng.choice("XYZ"), rng.randrange(10**7))
    forms = {
        "normal": value,
        "minúscula": value.lower(),
        "guiones": f"{value[0]}-{value[1:-1]}-{value[-1]}",
        "espacios": f"{value[0]} {value[1:-1]} {value[-1]}",
        "puntos": f"{value[0]}-{value[1]}.{value[2:5]}.{value[5:8]}-{value[-1]}",
        "guion": f"{value[:-1]}-{value[-1]}",
        "ES": f"ES{value}",
    }
    if hard:
        forms |= {
            "minúscula-guiones": forms["guiones"].lower(),
            "puntos-sueltos": f"{value[0]}.{value[1:-1]}.{value[-1]}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_cif(rng: random.Random, hard: bool) -> tuple[str, str]:
    value = cif(rng.choice("AABBBBCDEFGHJPQRSUVNW"), rng.randrange(10**7))
    forms = {
        "normal": value,
        "minúscula": value.lower(),
        "guion": f"{value[0]}-{value[1:]}",
        "espacio": f"{value[0]} {value[1:]}",
        "puntos": f"{value[0]}-{value[1:3]}.{value[3:6]}.{value[6:]}",
        "ES": f"ES{value}",
        "ES-guion": f"ES-{value}",
        "guiones": f"{value[0]}-{value[1:-1]}-{value[-1]}",
    }
    if hard:
        forms |= {
            "espacios": f"{value[0]} {value[1:3]} {value[3:6]} {value[6:]}",
            "barra": f"{value[0]}/{value[1:]}",
            "punto": f"{value[0]}.{value[1:]}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_iban(rng: random.Random, hard: bool) -> tuple[str, str]:
    country, bban = "ES", ccc(rng)
    if rng.random() < 0.12:
        country = rng.choice(["PT", "FR", "DE", "LT", "IE"])
        digits = lambda n: "".join(rng.choices(string.digits, k=n))  # noqa: E731
        bban = {"PT": digits(21), "FR": digits(23), "DE": digits(18), "LT": digits(16), "IE": "ZZZZ" + digits(14)}[
            country
        ]
        if country == "PT":
            bban = bban[:19]
            bban += f"{98 - int(bban) * 100 % 97:02d}"
        if country == "FR":
            bban = bban[:21]
            bban += f"{97 - int(bban) * 100 % 97:02d}"
    value = f"{country}{iban_check(country, bban)}{bban}"
    forms = {
        "normal": value,
        "cuatros": _groups(value, (4,) * (len(value) // 4), " "),
        "minúscula": value.lower(),
        "guiones": _groups(value, (4,) * (len(value) // 4), "-"),
        "puntos": _groups(value, (4,) * (len(value) // 4), "."),
    }
    if country == "ES":
        forms["bancario"] = _groups(value, (4, 4, 4, 2, 10), " ")
    if hard:
        forms |= {
            "minúscula-cuatros": forms["cuatros"].lower(),
            "dos-espacios": _groups(value, (4,) * (len(value) // 4), "  "),
            "prefijo": f"{value[:2]} {value[2:4]} {value[4:]}",
            "barras": _groups(value, (4, 4, 4, 2, 10), "/") if country == "ES" else value,
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_ccc(rng: random.Random, hard: bool) -> tuple[str, str]:
    value = ccc(rng)
    form = rng.choice(["normal", " ", "-"] + (["/", "."] if hard else []))
    return (value, form) if form == "normal" else (_groups(value, (4, 4, 2, 10), form), form)


def write_card(rng: random.Random, hard: bool) -> tuple[str, str]:
    value = card(rng)
    form = rng.choice(["normal", " ", "-"] + (["."] if hard else []))
    sizes = (4, 6, 5) if len(value) == 15 else (4, 4, 4, 4)
    return (value, form) if form == "normal" else (_groups(value, sizes, form), form)


def write_naf(rng: random.Random, hard: bool) -> tuple[str, str]:
    value = naf(rng)
    form = rng.choice(["normal", "/", " ", "-"])
    return (value, form) if form == "normal" else (_groups(value, (2, 8, 2), form), form)


def write_cadastral(rng: random.Random, hard: bool) -> tuple[str, str]:
    rural = rng.random() < 0.3
    value = cadastral(rng, rural=rural)
    form = rng.choice(["normal", "grupos", "minúscula"] if hard else ["normal", "grupos"])
    shown = {"normal": value, "grupos": _groups(value, (7, 7, 4, 2), " "), "minúscula": value.lower()}[form]
    return shown, ("rústica-" if rural else "") + form


def _ascii(text: str) -> str:
    return text.lower().translate(str.maketrans("áéíóúüñàèòçê", "aeiouunaeoce")).replace("ª", "").replace("'", "")


def write_email(rng: random.Random, hard: bool) -> tuple[str, str]:
    a = _ascii(rng.choice(FIRST)).split()[0]
    b = _ascii(rng.choice(LAST)).split()[-1]
    local = rng.choice(
        [f"{a}.{b}", f"{a}{rng.randrange(100)}", f"{a[0]}{b}", f"{a}_{b}", "info", "facturas", f"{a}-{b}", f"{b}+iva"]
    )
    domain = rng.choice(DOMAIN_LIST)
    forms = {
        "normal": f"{local}@{domain}",
        "mayúsculas": f"{local}@{domain}".upper(),
        "ángulos": f"{local}@{domain}",
        "arroba": f"{local} arroba {domain}",
        "(at)": f"{local}(at){domain}",
        "[arroba]": f"{local}[arroba]{domain}",
    }
    if hard:
        forms |= {
            " (at) ": f"{local} (at) {domain}",
            "espacios": f"{local} @ {domain}",
            "punto": f"{local} arroba {domain.replace('.', ' punto ')}",
            "eñe": f"peña.{b}@{domain}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_phone(rng: random.Random, hard: bool) -> tuple[str, str]:
    n = rng.choice(["6", "6", "7", "91", "93", "96", "95", "98", "81"])
    n += "".join(rng.choices(string.digits, k=9 - len(n)))
    if n.startswith("70"):
        n = "71" + n[2:]
    forms = {
        "normal": n,
        "3-3-3": f"{n[:3]} {n[3:6]} {n[6:]}",
        "3-2-2-2": f"{n[:3]} {n[3:5]} {n[5:7]} {n[7:]}",
        "2-3-2-2": f"{n[:2]} {n[2:5]} {n[5:7]} {n[7:]}",
        "puntos": f"{n[:3]}.{n[3:6]}.{n[6:]}",
        "guiones": f"{n[:3]}-{n[3:6]}-{n[6:]}",
        "+34": f"+34 {n[:3]} {n[3:6]} {n[6:]}",
        "+34junto": f"+34{n}",
        "0034": f"0034 {n}",
        "(+34)": f"(+34) {n[:3]} {n[3:5]} {n[5:7]} {n[7:]}",
        "fuera": rng.choice(
            ["+33 1 42 68 53 00", "+44 20 7946 0958", "+351 21 790 50 00", "+49 30 901820", "+1 212 555 0147"]
        ),
    }
    if hard:
        forms |= {
            "guion-primero": f"{n[:3]}-{n[3:]}",
            "2-2-puntos": f"{n[:3]}.{n[3:5]}.{n[5:7]}.{n[7:]}",
            "paréntesis": f"({n[:2]}) {n[2:5]} {n[5:7]} {n[7:]}",
            "34": f"34 {n[:3]} {n[3:6]} {n[6:]}",
            "barra": f"{n[:3]}/{n[3:5]}/{n[5:7]}/{n[7:]}",
            "duro": f"{n[:3]}\u00a0{n[3:6]}\u00a0{n[6:]}",
            "1-4-4": f"{n[:1]} {n[1:5]} {n[5:]}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def write_name(rng: random.Random, hard: bool) -> tuple[str, str]:
    pool = (HARD_FIRST, HARD_LAST) if hard else (FIRST, LAST)
    mixed = (FIRST + HARD_FIRST, LAST + HARD_LAST) if hard else pool
    first = rng.choice(pool[0])
    a, b = rng.choice(mixed[1]), rng.choice(pool[1])
    forms = {
        "normal": f"{first} {a} {b}",
        "dos": f"{first} {a}",
        "mayúsculas": f"{first} {a} {b}".upper(),
        "apellidos-coma": f"{a} {b}, {first}",
        "apellidos-coma-mayúsculas": f"{a} {b}, {first}".upper(),
        "y": f"{first} {a} y {b}" if rng.random() < 0.3 else f"{first} {a} {b}",
    }
    if hard:
        forms |= {
            "minúsculas": f"{first} {a} {b}".lower(),
            "sin-tildes": _plain(f"{first} {a} {b}"),
            "un-apellido-coma": f"{a}, {first}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


def _plain(text: str) -> str:
    return text.translate(str.maketrans("áéíóúüÁÉÍÓÚÜ", "aeiouuAEIOUU"))


def write_address(rng: random.Random, hard: bool) -> tuple[str, str]:
    street, number, town = rng.choice(STREETS), rng.randrange(1, 180), rng.choice(TOWNS)
    floor = rng.choice(["", ", 3.º B", ", 2º izda.", ", bajo", ", piso 4, puerta 2", ", esc. A, 1º C", ", local 2"])
    forms = {
        "calle": f"calle {street}, {number}{floor}, {town}",
        "C/": f"C/ {street}, {number}{floor}, {town}",
        "Calle": f"Calle {street} {number}, {town}",
        "Avda.": f"Avda. {street}, nº {number}{floor}. {town}",
        "Plaza": f"Plaza {street}, {number}, {town}",
        "corta": f"C/ {street} nº {number}{floor}",
        "Paseo": f"Paseo {street}, {number} - {town}",
        "mayúsculas": f"C/ {street}, {number}, {town}".upper(),
    }
    if hard:
        forms |= {
            "s/n": f"Camino {street}, s/n, {town}",
            "Pol.": f"Polígono Industrial {street}, parcela {number}, {town}",
            "Ctra.": f"Ctra. {street}, km {number}, {town}",
            "Rda.": f"Rda. {street} {number}{floor} {town}",
            "Carrer": f"Carrer {street}, {number}, {town}",
        }
    form = rng.choice(sorted(forms))
    return forms[form], form


WRITERS: dict[str, tuple[str, Callable[[random.Random, bool], tuple[str, str]]]] = {
    "nif": ("NIF", write_nif),
    "nie": ("NIE", write_nie),
    "cif": ("CIF", write_cif),
    "iban": ("IBAN", write_iban),
    "ccc": ("CCC", write_ccc),
    "card": ("TARJETA", write_card),
    "naf": ("NAF", write_naf),
    "ref": ("REF_CATASTRAL", write_cadastral),
    "email": ("EMAIL", write_email),
    "phone": ("TELEFONO", write_phone),
    "name": ("NOMBRE", write_name),
    "address": ("DIRECCION", write_address),
}

# --- texts. {kind} is a value; «§» marks values that may be broken over a line ----------------------------------

SENTENCES = (
    "Adjunto la factura de {name}, con NIF {nif§}, por importe de 1.250,00 euros.",
    "El cliente {name} (NIF: {nif§}) abonará 302,50 € antes del 20 de abril.",
    "NIF{nif} y CIF:{cif}.",
    "DNI {nif§}. Retención del 15 %: 187,50 €.",
    "Mi número de identificación es {nie§} y resido en España desde 2019.",
    "NIE: {nie§} · Alta en el censo el 03/02/2025.",
    "La arrendadora, {name}, titular del NIE {nie§}, declara haber recibido 700,00 euros.",
    "La sociedad con CIF {cif§} emitió la factura F-2026-014 el 15/04/2026.",
    "Proveedor: Suministros del Norte, S.L., CIF {cif§}, base imponible 600,00 €.",
    "N.I.F. del emisor: {cif§}; base 100,00 €, cuota 21,00 €.",
    "Páguese en la cuenta {iban§} a nombre de {name}.",
    "IBAN: {iban§}",
    "El ingreso se hizo en {iban§} el día 20 de enero.",
    "Cuenta antigua (CCC): {ccc§}.",
    "La cuenta {ccc} se cerró en 2013.",
    "Número de cuenta para la domiciliación: {ccc§}",
    "Se cargó en la tarjeta {card§} la cantidad de 36,30 €.",
    "Tarjeta: {card}, caduca 08/29.",
    "Número de afiliación a la Seguridad Social: {naf§}.",
    "N.º SS {naf} - régimen especial de autónomos.",
    "NAF {naf§}, base de cotización 1.000,00 €.",
    "Inmueble con referencia catastral {ref} alquilado por 650,00 €/mes.",
    "Ref. catastral: {ref}",
    "La finca {ref} tributa en el IBI.",
    "Escríbame a {email§} cuando tenga el modelo 303.",
    "Correo electrónico: {email§}",
    "E-mail: {email}. Tel.: {phone}.",
    "Puede contactar con <{email}> para la factura rectificativa.",
    "Llámeme al {phone} por la mañana.",
    "Teléfono: {phone}",
    "Tfno. {phone} / Móvil {phone}",
    "Mi móvil es el {phone} y el fijo el {phone}.",
    "Contacto: {name}, {phone}, {email}.",
    "Cliente: {name}",
    "Nombre y apellidos: {name}",
    "Titular: {name}. Ejercicio 2025.",
    "Atentamente,\n{name}",
    "D. {name}, mayor de edad, con domicilio en {address}.",
    "Dña. {name} solicita la devolución de 432,10 euros.",
    "Don {name} y doña {name} presentan declaración conjunta.",
    "Ayer hablé con {name} sobre la retención del 7 %.",
    "La trabajadora {name} causó baja el 30 de junio.",
    "He contratado a {name} como empleado a media jornada.",
    "El piso es propiedad de {name} y de {name}.",
    "Domicilio fiscal: {address}",
    "El local está en {address}.",
    "Vivo en {address}, y trabajo en casa.",
    "Dirección: {address}\nTeléfono: {phone}",
    "¿Puede {name} deducirse la cuota de autónomos de su pareja?",
    "Representante legal: {name}, NIF {nif§}.",
    "El perceptor {name} ({nie§}) cobró 1.800,00 € con un 19 % de retención.",
    "Según el contrato firmado por {name} el 1 de marzo de 2026, el precio es de 2.400,00 euros.",
)
LETTERS = (
    "Agencia Estatal de Administración Tributaria\nDelegación Especial\n\nDestinatario: {name}\nNIF: {nif§}\n{address}\n\n"
    "Asunto: requerimiento por el modelo 303, 1T 2026\n\nSe le comunica que en la autoliquidación presentada consta una base de "
    "6.010,12 euros. Dispone de diez días hábiles conforme al artículo 99 de la Ley 58/2003.\n\nLe atiende el funcionario {name}.",
    "Estimado/a {name}:\n\nLe envío los datos para la declaración: NIF {nif§}, cuenta {iban§}. Si falta algo, llame al {phone} o "
    "escriba a {email§}.\n\nUn saludo,\n{name}",
    "FACTURA F-2026-031\nFecha: 03/05/2026\nEmisor: {name}\nNIF: {nif§}\nDomicilio: {address}\nTel. {phone} - {email§}\n"
    "Cliente: Talleres Reunidos, S.L.\nCIF: {cif§}\nConcepto: reparación de persianas\nBase imponible 1.250,00\nIVA 21 % 262,50\n"
    "IRPF 15 % -187,50\nTotal 1.325,00\nForma de pago: transferencia a {iban§}",
    "CONTRATO DE ARRENDAMIENTO\nDe una parte, D. {name}, con N.I.F. {nif§}, y domicilio en {address}, como arrendador.\n"
    "De otra, D.ª {name}, con N.I.E. {nie§}, como arrendataria.\nEl inmueble tiene la referencia catastral {ref}. "
    "La renta, de 800,00 euros, se ingresará en {iban§}.",
    "NÓMINA DE ABRIL DE 2026\nEmpresa: Obras del Sur, S.A. CIF {cif§}\nTrabajador: {name}\nDNI: {nif§}\nN.º afiliación S.S.: {naf§}\n"
    "Líquido a percibir: 1.432,18 €\nAbono en cuenta {iban§}",
    "Hola:\n\nSoy {name}, autónomo desde 2021 (epígrafe 691.2). Mi DNI es {nif§}, mi teléfono {phone} y mi correo {email§}. "
    "¿Tengo que presentar el modelo 347 por las operaciones de 3.005,06 euros con el cliente {cif§}?\n\nGracias,\n{name}",
    "Recibí de {name} la cantidad de 350,00 euros con la tarjeta {card§}.\nFirmado: {name}\nNIF {nif§}",
    "Don/Doña {name}\n{address}\nCCC {ccc§}\nNAF {naf§}\nTeléfono {phone}",
)
TABLES = (
    "| Cliente | NIF | Base | IVA |\n|---|---|---|---|\n| {name} | {nif} | 100,00 | 21,00 |\n| {name} | {nie} | 250,00 | 52,50 |\n"
    "| {name} | {nif} | 80,00 | 16,80 |",
    "| Proveedor | CIF | Teléfono | Correo |\n|---|---|---|---|\n| Maderas Castilla, S.L. | {cif} | {phone} | {email} |\n"
    "| Papelería Central, S.A. | {cif} | {phone} | {email} |",
    "| Trabajador | NAF | IBAN | Líquido |\n|---|---|---|---|\n| {name} | {naf} | {iban} | 1.200,00 |\n| {name} | {naf} | {iban} | 980,00 |",
    "| Inquilino | Referencia catastral | Domicilio | Renta |\n|---|---|---|---|\n| {name} | {ref} | {address} | 650,00 |",
    "| Apellidos y nombre | Tarjeta | Cuenta |\n|---|---|---|\n| {name} | {card} | {ccc} |\n| {name} | {card} | {ccc} |",
)
HARD_SENTENCES = (
    "le paso los datos, {name}, dni {nif§}, y ya me dices",
    "El emisor ({nif§}) no aplica recargo; el receptor ({cif§}), tampoco.",
    "CIF{cif}/NIF{nif}",
    "con D.N.I. nº {nif§} y N.I.E. nº {nie§} respectivamente",
    "Documento nacional de identidad: {nif§}",
    "identificada con el número {nie§}, nacionalidad rumana",
    "NIF-IVA {cif§} (operador intracomunitario)",
    "Sociedad limitada {cif§}, inscrita al tomo 1.234, folio 56.",
    "Transferid 1.210,00 € a {iban§} (concepto: fra. 2026/77)",
    "Mi cuenta: {iban§}; la de mi socia: {iban§}",
    "c.c.c. {ccc§}, oficina principal",
    "pagado con visa {card§} el 2/3/26",
    "n.º de la seguridad social {naf§}, en alta desde 01/01/2024",
    "RC {ref}, valor catastral 45.300,00 euros",
    "mándalo a {email§} o a {email§}",
    "(correo: {email§}, tlf {phone})",
    "whatsapp {phone}, solo tardes",
    "telf.: {phone}. fax: {phone}",
    "si no contesto en el {phone} probad en el {phone}",
    "Firmado digitalmente por {name} - {nif§}",
    "FDO.: {name}",
    "Asistentes: {name}, {name} y {name}.",
    "La factura la pagó {name}, mi marido, en metálico.",
    "Sr. {name}: su solicitud de aplazamiento ha sido concedida.",
    "A la atención de {name}",
    "A/A. {name} ({phone})",
    "Beneficiario {name} IBAN {iban§}",
    "Obligado tributario: {nif§} {name}",
    "{name} {nif§} 1.234,56 EUR",
    "Cónyuge: {name}. Hijos: {name} (2015) y {name} (2018).",
    "heredera universal, {name}, vecina de {address}",
    "Sito en {address}; superficie 80 m2.",
    "{address}",
    "Apoderada: {name}; notario: {name}.",
    "El perito {name} tasó la nave en 120.000,00 euros.",
    "Trabajé para {name} entre enero y marzo.",
)
HARD_LETTERS = (
    "AEAT\nNOTIFICACIÓN\n{name}\n{address}\nN.I.F.: {nif§}\nExpediente: 2025GRC12345678\nJustificante 3030000000012\nImporte: 3.005,06 euros\n"
    "Cuenta de devolución: {iban§}",
    "De: {name} <{email}>\nPara: {name} <{email}>\nAsunto: IVA 1T\n\nBuenas tardes, {name}:\nTe mando el modelo 303. Mi nuevo móvil: {phone}.\n\n{name}\n{phone}",
    "MINUTA DE HONORARIOS\n{name}\nAbogada, col. 12.345\n{nif§}\n{address}\nTfno: {phone}\n\nPARA: {name}\nC.I.F./N.I.F.: {cif§}\n\nTotal: 968,00 €\nc/c {iban§}",
    "Autorizo a {name}, con documento {nif§}, a presentar en mi nombre el modelo 130.\nEl representado: {name}, documento {nie§}.",
    "Datos del empleado\nApellidos: {name}\nNIF {nif§}  NAF {naf§}\nCuenta {ccc§}\nDirección {address}",
)
HARD_TABLES = (
    "| Nombre | Documento | Móvil |\n|---|---|---|\n| {name} | {nif} | {phone} |\n| {name} | {nie} | {phone} |\n| {name} | {cif} | {phone} |",
    "| Fecha | Arrendatario | Cuenta de cargo | Importe |\n|---|---|---|---|\n| 01/02/2026 | {name} | {iban} | 700,00 |\n| 01/03/2026 | {name} | {ccc} | 700,00 |",
    "| Perceptor | NIF | Retención |\n|---|---|---|\n| {name} | {nif} | 112,50 |\n| {name} | {nif} | 75,00 |\n| {name} | {nie} | 19,00 |",
    "| Socio | Correo | Referencia catastral |\n|---|---|---|\n| {name} | {email} | {ref} |\n| {name} | {email} | {ref} |",
)


def _break(rng: random.Random, value: str, kind: str) -> str:
    """The value over two lines, with or without a hyphen at the line's end."""
    if kind == "EMAIL":
        spots = [i for i, c in enumerate(value) if c in "@."]
        at = rng.choice([s for i in spots for s in (i, i + 1) if 0 < s < len(value)] or [len(value) // 2])
        return f"{value[:at]}\n{value[at:]}"
    at = rng.randrange(2, len(value) - 1)
    if value[at - 1] in " -" or value[at] in " -":
        return f"{value[:at].rstrip(' ')}\n{value[at:].lstrip(' ')}"
    return f"{value[:at]}{rng.choice(['-', ''])}\n{value[at:]}"


def fill(rng: random.Random, template: str, *, hard: bool) -> tuple[str, tuple[Value, ...]]:
    """The template with values in its slots, and where they stand."""
    text, values = "", []
    for literal, slot, _, _ in string.Formatter().parse(template):
        text += literal
        if not slot:
            continue
        kind, writer = WRITERS[slot.rstrip("§")]
        value, form = writer(rng, hard)
        if (
            slot.endswith("§")
            and kind in BREAKABLE
            and "arroba" not in form
            and rng.random() < (0.25 if hard else 0.15)
        ):
            value, form = _break(rng, value, kind), form + "+roto"
        values.append(Value(kind, len(text), len(text) + len(value), form))
        text += value
    return text, tuple(values)


def generate(name: str) -> Iterator[Case]:
    """The cases of the set ``set`` or ``hard``, always the same."""
    seed, total = SETS[name]
    hard = name == "hard"
    rng = random.Random(seed)
    groups = (HARD_SENTENCES, HARD_LETTERS, HARD_TABLES) if hard else (SENTENCES, LETTERS, TABLES)
    labels = ("frase", "carta", "tabla")
    for number in range(total):
        group = rng.choices((0, 1, 2), weights=(6, 2, 2))[0]
        index = rng.randrange(len(groups[group]))
        text, values = fill(rng, groups[group][index], hard=hard)
        yield Case(f"{name}-{number:04d}", f"{labels[group]}-{index}", text, values)


def lines(name: str) -> str:
    """The set as JSON lines."""
    rows = (
        {
            "id": c.id,
            "template": c.template,
            "text": c.text,
            "values": [[v.kind, v.start, v.end, v.form] for v in c.values],
        }
        for c in generate(name)
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def load(name: str) -> list[Case]:
    """The frozen set as it is stored."""
    rows = map(json.loads, (DATA / f"pii_{name}.jsonl").read_text("utf-8").splitlines())
    return [Case(r["id"], r["template"], r["text"], tuple(Value(*v) for v in r["values"])) for r in rows]


if __name__ == "__main__":
    for chosen in SETS:
        (DATA / f"pii_{chosen}.jsonl").write_text(lines(chosen), "utf-8")
