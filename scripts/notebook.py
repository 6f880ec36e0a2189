"""What a notebook shows, on the page about notebooks: `<!-- shown: name -->` becomes the table of that name.

The names are those of the first example of the page, which is run when the site is built.  The notebooks of examples/,
to which the page has links, become files of the site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

PAGE = "notebooks.md"
NOTEBOOKS = "examples/notebooks"

_EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(r"^<!-- shown: (\w+) -->$", re.MULTILINE)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the notebooks to the site."""
    for path in sorted((Path(config.config_file_path).parent / NOTEBOOKS).glob("*.ipynb")):
        files.append(File.generated(config, f"{NOTEBOOKS}/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the tables where the page asks for them."""
    example = _EXAMPLE.search(markdown)
    if page.file.src_uri != PAGE or example is None:
        return markdown
    names: dict[str, Any] = {}
    exec(example[1], names)  # the example of our own page
    markdown = markdown.replace(f"(../{NOTEBOOKS}/", f"({NOTEBOOKS}/")  # from the page's folder to the site's
    return _SHOWN.sub(lambda found: f'<div class="notebook">{_table(names[found[1]])}</div>', markdown)


def _table(shown: Any) -> str:
    """Return the HTML of something, in one line, which Markdown leaves as it is."""
    return " ".join(str(shown._repr_html_()).split())
