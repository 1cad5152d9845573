"""Text to callables that live in the user's namespaces without writing into them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import CellType, CodeType, FunctionType

from s2sad.errors import InternalError
from s2sad.syntax.snippets import register

_FACTORY = "__s2sad_factory__"
# What evaluating an annotation may raise: its names may exist for type checkers only.
_FAILURES = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)


def load(
    text: str,
    entry: str,
    *,
    filename: str,
    namespaces: Mapping[str, dict[str, object]],
    cells: Mapping[str, Mapping[str, object]],
    defaults: Mapping[str, FunctionType] | None = None,
) -> dict[str, FunctionType]:
    """Compile `text`, a module of imports and functions, and return its functions by name.

    The function `name` has `namespaces[name]` as its globals, live, and never written to; a name
    without one shares that of `entry`. Its free names are found in `cells[name]` (a value, or a
    cell to be shared), then among the functions and imports of the text, and only then in the
    globals. So `def f_grad(x): return helper(x)` finds the `helper` of the same text although the
    user's module never hears of it. A function named in `defaults` that has any takes over
    those of another with the same parameters, as they are: its own are not evaluated.
    """
    defaults = defaults or {}
    tree = ast.parse(text, filename)
    register(text, filename)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if entry not in functions:
        raise InternalError(f"{filename} does not define {entry}")
    rest = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    flags = _future_flags(rest)
    shared = {name: CellType(value) for name, value in _run(rest, filename, flags).items()}
    shared |= {name: CellType() for name in functions}
    loaded = {}
    for name, node in functions.items():
        own = {free: _cell(value) for free, value in cells.get(name, {}).items()}
        namespace = namespaces.get(name, namespaces.get(entry))
        takes_over = name in defaults and _has_defaults(node) and _as_many(node, defaults[name])
        if takes_over:
            node = _without_defaults(node)
        loaded[name] = _build(
            node, shared | own, {} if namespace is None else namespace, filename, flags
        )
        if takes_over:
            loaded[name].__defaults__ = defaults[name].__defaults__
            loaded[name].__kwdefaults__ = defaults[name].__kwdefaults__
    for name, function in loaded.items():
        shared[name].cell_contents = function
    return loaded


def _has_defaults(node: ast.FunctionDef) -> bool:
    return bool(node.args.defaults) or any(node.args.kw_defaults)


def _as_many(node: ast.FunctionDef, other: FunctionType) -> bool:
    """Say whether another function has the defaults of a definition: an inner one has its own."""
    return len(node.args.defaults) == len(other.__defaults__ or ())


def _without_defaults(node: ast.FunctionDef) -> ast.FunctionDef:
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kw_defaults)
    return node


def _cell(value: object) -> CellType:
    return value if isinstance(value, CellType) else CellType(value)


def _future_flags(body: Iterable[ast.stmt]) -> int:
    """Return the compiler's flags for the `from __future__` imports: one still does something."""
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    names = [a.name for node in imports if node.module == "__future__" for a in node.names]
    return annotations.compiler_flag if "annotations" in names else 0


def _run(body: list[ast.stmt], filename: str, flags: int) -> dict[str, object]:
    """Run what is not a function, the imports, in a namespace of its own."""
    namespace: dict[str, object] = {"__name__": filename}
    module = ast.Module(body, type_ignores=[])
    exec(compile(module, filename, "exec", flags, dont_inherit=True), namespace)
    return {name: value for name, value in namespace.items() if not name.startswith("__")}


def _build(
    node: ast.FunctionDef,
    cells: Mapping[str, CellType],
    namespace: dict[str, object],
    filename: str,
    flags: int,
) -> FunctionType:
    """Build one function: its code is taken out of a factory whose parameters are `cells`.

    Inside the factory the names of the cells are free names of the function, whatever cells they
    will be; calling the factory evaluates the defaults where Python would.
    """
    if node.decorator_list:
        raise InternalError(f"{filename}: {node.name} is decorated; what is loaded is plain")
    hints = _strip_annotations(node)
    factory = FunctionType(_factory_code(node, list(cells), filename, flags), namespace)
    draft = factory(*map(_contents, cells.values()))
    code = _requalify(draft.__code__, f"{_FACTORY}.<locals>.")
    closure = tuple(cells[name] for name in code.co_freevars)
    function = FunctionType(code, namespace, node.name, draft.__defaults__, closure)
    function.__kwdefaults__ = draft.__kwdefaults__
    function.__doc__ = draft.__doc__
    function.__module__ = str(namespace.get("__name__", filename))
    function.__qualname__ = node.name
    function.__annotations__ = {
        name: _annotation(value, namespace, cells, flags) for name, value in hints.items()
    }
    return function


def _factory_code(node: ast.FunctionDef, names: list[str], filename: str, flags: int) -> CodeType:
    module = ast.parse(f"def {_FACTORY}({', '.join(names)}):\n    pass\n    return {node.name}")
    factory = module.body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body[0] = node
    code = compile(module, filename, "exec", flags, dont_inherit=True)
    return next(const for const in code.co_consts if isinstance(const, CodeType))


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _requalify(code: CodeType, prefix: str) -> CodeType:
    """Take the factory out of the qualified names of the function and of those within it."""
    consts = tuple(
        _requalify(const, prefix) if isinstance(const, CodeType) else const
        for const in code.co_consts
    )
    return code.replace(co_qualname=code.co_qualname.removeprefix(prefix), co_consts=consts)


def _strip_annotations(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Take the annotations off: names in them may exist for type checkers only."""
    found: dict[str, ast.expr] = {}
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for arg in [*listed, arguments.vararg, arguments.kwarg]:
        if arg is not None and arg.annotation is not None:
            found[arg.arg] = arg.annotation
            arg.annotation = None
    if node.returns is not None:
        found["return"] = node.returns
        node.returns = None
    return found


def _annotation(
    node: ast.expr, namespace: dict[str, object], cells: Mapping[str, CellType], flags: int
) -> object:
    """Return what the annotation denotes, or its text where that cannot be had."""
    if isinstance(node, ast.Constant):
        return node.value
    if flags & annotations.compiler_flag:
        return ast.unparse(node)
    visible = {name: _contents(cell) for name, cell in cells.items()}
    # eval writes __builtins__ where there is none.
    namespace = namespace if "__builtins__" in namespace else dict(namespace)
    try:
        return eval(compile(ast.Expression(node), "<annotation>", "eval"), namespace, visible)
    except _FAILURES:
        return ast.unparse(node)
