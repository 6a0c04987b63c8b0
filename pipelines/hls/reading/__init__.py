"""C to the structured intermediate representation, one idea a module.

| module | holds |
| --- | --- |
| `ctypes` | types of C: promotions, conversions, sizes |
| `literals` | integer, character, floating and string constants |
| `session` | names, scopes, emitted statements, refusals: what is known while a program is read |
| `declarators` | declared types; the names of a file |
| `places` | where values are: variables, array elements, members, and pointers to them |
| `values` | what expressions give |
| `expressions`, `choices`, `pointers` | values; `&&`, `||`, `?:`; pointer arithmetic |
| `effects` | assignments inside and outside expressions |
| `calls`, `memory_calls`, `facts` | inlining, functions that are operators; what a function's text says |
| `objects`, `initialisers`, `filling` | declared variables and arrays, and their first values |
| `parameters` | arguments of the top function |
| `statements`, `switches`, `loops` | statements |
| `counting`, `countdown` | what makes a loop counted |
| `leaves` | blocks that need not be left |
| `finishing` | tables, unused arrays, the final return |
| `program` | the readers put together |

`pipelines.hls.frontend` has the functions that the rest of the engine uses.
"""
