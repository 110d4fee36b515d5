#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# First program of a node: file systems, this node's configuration, cgroups, swap, network.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mark() { read -r up _ < /proc/uptime; echo "node-boot $up $*" > /dev/console; }

mount -t proc proc /proc
mount -t sysfs sysfs /sys
grep -q ' /dev devtmpfs ' /proc/mounts || mount -t devtmpfs dev /dev
mark init
mkdir -p /dev/pts /dev/shm /dev/mqueue
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t mqueue mqueue /dev/mqueue
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
mount --make-rshared /
ln -sf /proc/self/fd /dev/fd
ln -sf /proc/self/fd/0 /dev/stdin
ln -sf /proc/self/fd/1 /dev/stdout
ln -sf /proc/self/fd/2 /dev/stderr

# The second disk is a tar archive with all that makes this node different from the others.
tar -xf /dev/vdb -C /
# shellcheck source=/dev/null
. /etc/node.env
hostname -F /etc/hostname
[ -s /etc/machine-id ] || tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id

delegate() { # cgroup folder: every controller that it has, to its children
  read -r controllers < "$1/cgroup.controllers"
  for c in $controllers; do echo "+$c" > "$1/cgroup.subtree_control"; done
}
delegate /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/system.slice
delegate /sys/fs/cgroup/system.slice

# kswapd needs somewhere to put anonymous memory.
echo lz4 > /sys/block/zram0/comp_algorithm
echo 512M > /sys/block/zram0/disksize
mkswap /dev/zram0 > /dev/null
swapon /dev/zram0

sysctl -qw net.ipv4.ip_forward=1 vm.overcommit_memory=1 kernel.panic_on_oops=1
ip link set lo up
# eth0: QEMU's user network, the way to the control plane on the host. eth1: the other nodes.
ip link set eth0 up
ip addr add "$USER_NETWORK_IP/24" dev eth0
ip link set eth1 up
ip addr add "$NODE_IP/24" dev eth1
# There is no default route: a node speaks to the host and to the other nodes. Service addresses need a
# route for a moment only, until kube-proxy's rules have replaced them.
ip route add "$SERVICE_NETWORK" dev eth1 src "$NODE_IP"
while read -r cidr via; do ip route add "$cidr" via "$via"; done < /etc/node.routes
# Pods speak to each other with their own addresses; what leaves through the host takes the node's.
nft -f - <<RULES
table ip pod-network {
  chain postrouting {
    type nat hook postrouting priority srcnat;
    ip saddr $POD_NETWORK oifname "eth0" masquerade
  }
}
RULES
mark network
