"""C to the structured intermediate representation, one module per construct.

| module | holds |
| --- | --- |
| `ctypes` | types of C: promotions, conversions, sizes; constants |
| `session` | names and their storage, scopes, emitted statements, refusals |
| `declarators` | declared types; the names of a file |
| `places` | steps between variables, array elements, members, and pointers to them |
| `values` | what expressions give; pointer arithmetic |
| `expressions` | values of expressions |
| `effects` | assignments inside and outside expressions; `&&`, `||`, `?:` |
| `calls` | inlining, functions that are operators, `memcpy`, `memmove` and `memset` |
| `objects` | declared variables and arrays; arguments of the top function |
| `initialisers` | their first values |
| `folding` | constants that the hardware would compute, as gcc folds them |
| `statements`, `loops` | statements, `switch`; loops |
| `counting` | what makes a loop counted |
| `bodies` | facts of a function's text, blocks that need not be left, tables, the final return |

`pipelines.c.frontend` puts the readers together and has the functions that the rest of the engine uses.
"""
