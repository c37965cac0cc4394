HEADER = (
    "setting",
    "rows",
    "engine",
    "distinct",
    "steps",
    "survey",
    "index",
    "search",
    "rows",
    "write",
    "total",
    "CPU",
    "GB",
)


def cells(case):
    p = case.plan
    s = case.stages
    return (
        p.setting,
        f"{p.rows:,}",
        p.engine + (f" {p.index}" if p.index else ""),
        f"{case.distinct / p.rows:.0%}",
        str(case.steps),
        *(f"{s[n].seconds:.1f}/{s[n].cpu:.1f}/{s[n].peak / 1e9:.1f}" for n in s),
        f"{case.seconds:.1f}",
        f"{case.cpu:.1f}",
        f"{case.peak / 1e9:.2f}",
    )


def scale_page(found):
    return ""
