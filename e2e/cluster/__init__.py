# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes cluster on one machine: control plane on the host, nodes in virtual machines."""
