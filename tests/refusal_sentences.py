"""Sentences that test the formulas of refusal from outside: written after the list, not taken from it."""

REFUSALS = """\
No me es posible ofrecerle una respuesta con los fragmentos facilitados.
En los fragmentos no hay nada sobre la tarifa plana.
Las fuentes guardan silencio sobre este punto.
No está claro en los documentos si procede.
No cuento con elementos de juicio para pronunciarme.
Con lo que tengo delante no llego a una conclusión.
Este asistente no puede responder a esa cuestión.
AsesorIA no dispone de información sobre ese tema.
No hay información disponible sobre el recargo en los textos aportados.
Los manuales consultados no tratan esa cuestión.
La documentación no especifica el importe.
No se especifica el importe en la documentación.
No se proporciona información sobre el plazo.
No se aporta información al respecto.
No encuentro ninguna mención al coche eléctrico.
No aparece información al respecto.
El texto no lo aclara.
El contexto proporcionado es insuficiente para contestar.
No hay suficiente información para responder.
No tengo suficientes datos.
No es posible determinarlo con la información facilitada.
No se puede determinar a partir de los fragmentos.
No podría decirle con seguridad.
Siento no poder ayudarle.
Me resulta imposible contestar.
No puedo dar esa información.
No puedo proporcionar asesoramiento fiscal personalizado.
No puedo responder.
Ninguno de los textos menciona ese supuesto.
La respuesta no se encuentra en los documentos.
La respuesta no figura en los fragmentos proporcionados.
Esa información no está en los documentos.
No existe ninguna referencia a ello en las fuentes.
Las fuentes citadas no permiten concluir que sea deducible.
No se desprende de los documentos que sea obligatorio.
No puedo confirmarlo.
No puedo verificar esa afirmación.
No sé responder a eso.
Desconocemos ese extremo.
No dispongo de esa información.
No tengo acceso a esos datos.
No poseo información actualizada.
Mi información no alcanza a ese ejercicio.
No hallo respuesta en el material facilitado.
Lamentablemente, la información proporcionada no incluye el tipo aplicable.
Disculpe, no he podido localizar el artículo.
Esa cuestión excede lo que puedo contestar.
Se necesita más información para responder.
Haría falta más información para poder responder.
No se menciona.
No se indica el plazo en el texto.
No puedo pronunciarme sobre su caso.
No me atrevo a asegurar que sea así.
No tengo datos para contestar a esto.
En los documentos que manejo no viene ese plazo.
No viene recogido en ninguno de los documentos.
Ese supuesto no está contemplado en las fuentes.
Los fragmentos recuperados no hablan de ese impuesto.
No consta en la documentación disponible.
Me faltan datos para poder responder.
No es posible dar una respuesta con certeza.
No se puede ofrecer una respuesta fiable.
No hay constancia de ello en los textos.
Con la información disponible no puedo determinar el importe.
Lo que pregunta no aparece en los manuales.
La pregunta está fuera del ámbito de AsesorIA.
No tengo conocimiento de esa norma.
No sabría responderle con exactitud.
No estoy en disposición de confirmar ese dato.
La información es demasiado escasa para concluir.
No hay información suficiente.
Carecemos de datos.
No se ha localizado información sobre esa ayuda.
No existe información específica sobre drones.
La documentación aportada no contiene datos sobre ello.
Las fuentes no responden a esta pregunta.
Los documentos indexados no lo recogen.
No he encontrado ese dato.
No puedo saber si le corresponde.
Me es imposible precisarlo.
Perdone, pero no entiendo lo que pregunta.
No le puedo ayudar en este asunto.
De los fragmentos no puede extraerse una conclusión.
No me queda claro.
No hay nada en las fuentes que lo confirme.
No dispongo de elementos suficientes para valorarlo.
No puedo facilitar ese dato.
No procede que me pronuncie.
Imposible saberlo con estos textos.
Falta contexto para responder.
Los extractos no bastan para contestar.
""".splitlines()

ANSWERS = """\
Los gastos de suministros de la vivienda son deducibles en el 30 % de la parte afecta.
No se podrá deducir el IVA si no se dispone de la factura original.
El contribuyente no tiene derecho a devolución cuando no consta el ingreso.
Las facturas simplificadas no permiten deducir el IVA salvo que contengan el NIF del destinatario.
No es posible renunciar al régimen una vez iniciado el año.
No puede acogerse al régimen quien supere los límites.
No hay obligación de declarar por debajo de 22.000 euros.
La normativa no fija un importe máximo.
No se exige aportar garantía para deudas inferiores a 50.000 euros.
Si el documento no incluye la fecha, no sirve como factura.
No se admite la deducción de gastos sin justificante.
El plazo no incluye los sábados.
Los servicios prestados fuera del territorio no están sujetos.
La Agencia Tributaria puede pedir información adicional.
El libro registro debe contener los datos de cada factura.
Los documentos que no contengan el desglose no son facturas completas.
El modelo 130 no se presenta si más del 70 % lleva retención.
No pueden deducirse las multas ni los donativos.
Debe indicar en la factura que la operación está exenta.
No existe límite para los gastos de formación.
Las operaciones no sujetas no se declaran en el modelo 303.
No cabe recurso de reposición contra la resolución.
No cabe aplicar la reducción en estimación objetiva.
No es necesario presentar documentación.
En caso de falta de información, la Administración requerirá al contribuyente.
La deducción no está condicionada a la entrega de documentos.
Quien carece de establecimiento permanente tributa por el impuesto de no residentes.
La falta de datos en la factura impide deducir.
No obstante, si el contribuyente no puede determinar la base, se aplicará la estimación indirecta.
La Administración no puede conocer los datos si no se declaran.
Los datos no figuran en la declaración informativa cuando son exentos.
Es imposible compensar pérdidas de más de cuatro años.
Quien no disponga de certificado electrónico puede presentarlo en papel.
No se deducen las cuotas soportadas en adquisiciones de alimentos.
El titular no puede deducir más del 50 % del vehículo.
La factura no contiene el tipo impositivo cuando la operación está exenta.
No hace falta presentar el modelo si no hubo actividad.
No hay recargo si se paga dentro del plazo.
Las dietas no superan 26,67 euros diarios en España.
No es obligatorio domiciliar el pago.
Se requiere factura completa.
No se tiene en cuenta el importe de las subvenciones.
No tiene la consideración de autónomo el socio minoritario.
No se incluyen los anticipos en la base.
Hace falta justificar el gasto con documentos.
El fraccionamiento no se concede si la deuda es inaplazable.
No se aplica retención cuando el pagador es un particular.
La sede electrónica da información sobre cada modelo.
Si no se aporta la documentación, se archiva la solicitud.
No queda exonerado de llevar el libro de ingresos.
El documento no es válido sin firma.
No puede emitirse factura simplificada por más de 3.000 euros.
Los gastos no deben exceder de los límites.
No está obligado a llevar contabilidad ajustada al Código de Comercio.
La exención no alcanza a las entregas accesorias.
No puede optar por la prorrata especial fuera del plazo.
La ley no contempla ninguna excepción.
""".splitlines()
