# SPDX-License-Identifier: Apache-2.0
"""python3 -m devtool, which is what ./dev starts."""

import sys

from devtool.cli import main

sys.exit(main(sys.argv[1:]))
