"""What can be wrong before anything is computed: one class a cause."""


class ConformanceError(ValueError):
    """The question can't be asked as it stands."""


class FunctionError(ConformanceError):
    """There is no such function, or it can't be called."""


class BindingError(ConformanceError):
    """The function's parameters don't fit the declared names."""


class SideError(ConformanceError):
    """The statement has no such goal or side, or its sides differ and none was chosen."""
