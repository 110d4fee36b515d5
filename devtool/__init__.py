# SPDX-License-Identifier: Apache-2.0
"""The code behind ./dev. Standard library only: it runs before anything is installed."""
