"""C to the structured intermediate representation, one idea a module.

| module | holds |
| --- | --- |
| `ctypes` | types of C: promotions, conversions, sizes |
| `literals` | integer, character, floating and string constants |
| `session` | names, scopes, emitted statements, refusals: what is known while a program is read |
| `places` | where values are: variables, array elements, members; pointers that resolve to them |
| `declarators` | declared types |
| `expressions`, `effects` | values, and the statements their side effects become |
| `initialisers`, `objects` | declared variables and arrays |
| `calls` | inlining and built-in functions |
| `statements`, `switches`, `loops` | statements |
| `leaves` | blocks that need not be left |

`pipelines.hls.frontend` puts them together; outside this package only that module uses them.
"""
