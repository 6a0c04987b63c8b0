"""Build the site: `python -m simfoundry.site FOLDER`."""

import sys
from pathlib import Path

from simfoundry.site.pages import build_site

if len(sys.argv) != 2:
    raise SystemExit(f"expected one argument, the folder of the site; got {sys.argv[1:]}")
sys.stdout.write(f"{build_site(Path(sys.argv[1]).resolve())}\n")
