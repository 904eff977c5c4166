"""Axis glossary, and the type annotations that carry it.

| axis | meaning                  | axis | meaning                        |
| ---- | ------------------------ | ---- | ------------------------------ |
| `E`  | episodes in lockstep     | `T`  | budget                         |
| `N`  | candidate points         | `t`  | observations so far            |
| `D`  | input dimensions         | `M`  | source tasks                   |
| `F`  | features per candidate   | `K`  | local searches                 |
| `P`  | parameters of a task     | `S`  | starts of a hyperparameter fit |
| `C`  | components of a mixture  | `G`  | 1 if M sources share it, else M |
| `Z`  | inducing points          | `R`  | mean and features of a family  |
| `W`  | C cells, and the plain prior |  |                            |

There is exactly one explicit leading axis: points are `E N D`, values `E N`. `#E` marks an axis
of size `E`, or of size 1 if all episodes share it. Annotations are checked at run time in the test
suite only.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Annotated as Bool
    from typing import Annotated as Float
    from typing import Annotated as Int
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:

        class _Axes:
            """Stand-in for jaxtyping if it is not installed: axes are documentation only."""

            def __class_getitem__(cls, item):
                return item[0]

        Bool = Float = Int = _Axes

__all__ = ["Bool", "Float", "Int"]
