"""Tables of the records, and how an older database becomes one of the present version.

To add a table: define it here and append a migration that creates it; to change one, append
a migration that alters it. A new database is made from ``metadata`` at once and gets the last version.
"""

from collections.abc import Callable

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

from core.errors import RecordsError

metadata = MetaData()

# Times are ISO 8601 in UTC with milliseconds and sort as text; ``day`` is their first ten characters.

schema_info = Table("schema_info", metadata, Column("version", Integer, nullable=False))

interactions = Table(
    "interactions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created_at", String(24), nullable=False),
    Column("day", String(10), nullable=False),
    Column("channel", String(16), nullable=False),
    Column("private_session", Boolean, nullable=False),
    Column("session_ref", String(32), nullable=False),
    Column("question", Text, nullable=False),
    Column("category", String(16), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("grounded", Boolean, nullable=False),
    Column("level", String(8), nullable=False),
    Column("seal_mode", String(16), nullable=False),
    Column("signals", JSON, nullable=False),
    Column("sources", JSON, nullable=False),
    Column("prompt_version", String(80), nullable=False),
    Column("model", String(200), nullable=False),
    Column("corpus_version", String(80), nullable=False),
    Column("thresholds_version", String(80), nullable=False),
    Column("latency_ms", Float, nullable=False),
    Column("answer", Text, nullable=True),
    Column("passages", JSON, nullable=True),
    Index("interactions_day", "day"),
    Index("interactions_session", "session_ref"),
)

feedback = Table(
    "feedback",
    metadata,
    Column("interaction_id", String(32), primary_key=True),
    Column("at", String(24), nullable=False),
    Column("thumb", String(8), nullable=False),
    Column("comment", Text, nullable=False),
)

# The inbox of what waits for a person. ``version`` goes up with each change: who decides names the one that was read.
reviews = Table(
    "reviews",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("title", Text, nullable=False),
    Column("details", JSON, nullable=False),
    Column("status", String(8), nullable=False),
    Column("opened_at", String(24), nullable=False),
    Column("closed_at", String(24), nullable=False),
    Column("closed_by", String(200), nullable=False),
    Column("decision", String(40), nullable=False),
    Column("reason", Text, nullable=False),
    Column("version", Integer, nullable=False),
    UniqueConstraint("kind", "subject", name="reviews_once"),
    Index("reviews_status", "status", "opened_at"),
)

seal_state = Table(
    "seal_state",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("mode", String(16), nullable=False),
    Column("since", String(24), nullable=False),
    Column("reason", Text, nullable=False),
    Column("changed_by", String(200), nullable=False),
)

baselines = Table(
    "baselines",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("created_at", String(24), nullable=False),
    Column("saved_by", String(200), nullable=False),
    Column("prompt_version", String(80), nullable=False),
    Column("model", String(200), nullable=False),
    Column("corpus_version", String(80), nullable=False),
    Column("thresholds_version", String(80), nullable=False),
    Column("n", Integer, nullable=False),
    Column("pearson", Float, nullable=True),
    Column("kappa", Float, nullable=True),
    Column("details", JSON, nullable=False),
)

# A person's verdict on an answer: a case of the reference set (``kind`` "reference") or an interaction ("interaction").
# Several may stand beside each other; none is overwritten.
verdicts = Table(
    "verdicts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("at", String(24), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("case_id", String(64), nullable=False),
    Column("reference_version", String(80), nullable=False),
    Column("faithfulness", Float, nullable=False),
    Column("reason", Text, nullable=False),
    Column("decides", Text, nullable=False),
    Column("reviewer", String(200), nullable=False),
    Column("reviewer_kind", String(16), nullable=False),
    Index("verdicts_case", "kind", "case_id"),
)

Migration = Callable[[Connection], None]


def _add_verdicts(connection: Connection) -> None:
    verdicts.create(connection, checkfirst=True)


# The n-th entry leads from version n to n + 1.
MIGRATIONS: tuple[Migration, ...] = (_add_verdicts,)


def present_version(migrations: tuple[Migration, ...] = MIGRATIONS) -> int:
    """Version that this program writes; the first one is 1."""
    return 1 + len(migrations)


def is_up_to_date(connection: Connection) -> bool:
    """Whether nothing need be created or migrated; needs no write lock."""
    if "schema_info" not in inspect(connection).get_table_names():
        return False
    return list(connection.execute(select(schema_info.c.version)).scalars()) == [present_version()]


def bring_up_to_date(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> None:
    """Create or migrate the tables, within the caller's transaction.

    Raises:
        RecordsError: the database was made by a newer program, or is not one of AsesorIA.
    """
    there = set(inspect(connection).get_table_names())
    wanted = present_version(migrations)
    if "schema_info" not in there:
        if there & set(metadata.tables):
            raise RecordsError(
                "La base de datos de registros no dice de qué versión es. Si no es de AsesorIA, indique otra con "
                "ASESORIA_RECORDS_URL; si lo es, recupere una copia."
            )
        metadata.create_all(connection)
        connection.execute(schema_info.insert().values(version=wanted))
        return
    versions = list(connection.execute(select(schema_info.c.version)).scalars())
    if len(versions) != 1 or not 1 <= versions[0] <= wanted:
        raise RecordsError(
            f"La base de datos de registros es de la versión {', '.join(map(str, versions)) or '(ninguna)'} y este programa "
            f"usa la {wanted}. Actualice AsesorIA, o indique otra base de datos con ASESORIA_RECORDS_URL."
        )
    for migrate in migrations[versions[0] - 1 :]:
        migrate(connection)
    if versions[0] != wanted:
        connection.execute(schema_info.update().values(version=wanted))
