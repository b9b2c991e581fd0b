"""The processes that make cells: keeper, zygote and init; `client` is the caller's end."""
