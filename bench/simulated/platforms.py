#!/usr/bin/env python3
"""Simulated machines by name, for the comparisons of collectives: a platform and a host for every rank.

usage: bench/simulated/platforms.py FOLDER NAME...     writes FOLDER/NAME.xml and FOLDER/NAME, the hosts by rank

A name is FAMILY-RANKSxRANKS_PER_NODE: fat_tree-64x8 has 64 ranks on 8 nodes; without the second number a rank has a
node for itself. Consecutive ranks share a node; the last one may have fewer.

fat_tree    leaf switches, half as many links up to the spines as down: 1 us and 12.5 GB/s each
torus       three dimensions as even as can be, links of 1 us and 5 GB/s
dragonfly   groups of routers that have a link to every other group: 1 us and 12.5 GB/s
gigabit     a switch of Gigabit Ethernet: 28.71 us from node to node, as in Nishida's cluster, and 117.7 MB/s
altix       2 CPUs on a SHUB, 4 SHUBs in a brick, the bricks in two halves: tests/simgrid/altix.xml in other sizes

Inside a node of the first three a message takes 0.2 us and 10 GB/s, of gigabit 1 us and 1.5 GB/s.
"""

import dataclasses
import itertools
import math
import pathlib
import re
import sys


@dataclasses.dataclass(frozen=True)
class Platform:
    """What SimGrid reads: the platform, and the host of every rank."""

    name: str
    xml: str
    hosts: list

    @property
    def ranks(self):
        return len(self.hosts)

    def write(self, folder):
        """The paths of both files, for -platform and -hostfile."""
        xml, hosts = folder / f"{self.name}.xml", folder / self.name
        xml.write_text('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                       f'<platform version="4.1">\n{self.xml}\n</platform>\n', encoding="utf-8")
        hosts.write_text("".join(f"{host}\n" for host in self.hosts), encoding="utf-8")
        return xml, hosts


def cluster(count, rates, loopback, topology=""):
    return (f'  <cluster id="cluster" prefix="node-" suffix="" radical="0-{count - 1}" speed="10Gf" {rates}\n'
            f'           {loopback}{topology}/>')


def shaped(count, topology, parameters, bandwidth):
    return cluster(count, f'bw="{bandwidth}" lat="1us"', 'loopback_bw="10GBps" loopback_lat="200ns"',
                   f'\n           topology="{topology}" topo_parameters="{parameters}"')


def fat_tree(nodes):
    """Square, or with half as many leaves as nodes on a leaf; the last leaf may have spare nodes."""
    down = 2 ** math.ceil(math.log2(max(nodes, 4)) / 2)
    leaves = math.ceil(nodes / down)
    return shaped(down * leaves, "FAT_TREE", f"2;{down},{leaves};1,{down // 2};1,1", "12.5GBps")


def torus(nodes):
    """The least sum of sides, and of these the least volume, that has room for the nodes."""
    sides = range(1, math.isqrt(nodes) + 4)
    shape = min((shape for shape in itertools.combinations_with_replacement(sides, 3) if math.prod(shape) >= nodes),
                key=lambda shape: (sum(shape), math.prod(shape)))
    return shaped(math.prod(shape), "TORUS", ",".join(map(str, reversed(shape))), "5GBps")


def dragonfly(nodes):
    """A router of a group has the link to one other group: there are never more groups than such routers."""
    chassis, routers, on_router = (2, 2, 1) if nodes <= 16 else (2, 4, 2) if nodes <= 128 else (4, 4, 4)
    groups = math.ceil(nodes / (chassis * routers * on_router))
    parameters = f"{groups},1;{chassis},1;{routers},1;{on_router}"
    return shaped(groups * chassis * routers * on_router, "DRAGONFLY", parameters, "12.5GBps")


def gigabit(nodes):
    return cluster(nodes, 'bw="117.7MBps" lat="14.355us"', 'loopback_bw="1.5GBps" loopback_lat="1us"')


def hub(kind, number, members, member_routers, rates):
    """Members around a router in a zone of its own; every member has a link to it, shared by all that pass."""
    name = f"{kind}-hub{number}"
    text = f'<zone id="{name}" routing="Full"><router id="{kind[0]}{number}"/></zone>\n'
    for member in members:
        text += f'<link id="link-{member}" {rates}/>\n'
    for member, router in zip(members, member_routers):
        text += (f'<zoneRoute src="{member}" dst="{name}" gw_src="{router}" gw_dst="{kind[0]}{number}">'
                 f'<link_ctn id="link-{member}"/></zoneRoute>\n')
    return text


def altix(cpus):
    """SHUBs s, with routers r; bricks with routers b; halves with routers h."""
    halves = ""
    of_half = math.ceil(math.ceil(cpus / 8) / 2)
    for half in range(2):
        bricks = range(half * of_half, (half + 1) * of_half)
        halves += f'<zone id="half{half}" routing="Floyd">\n'
        for brick in bricks:
            shubs = range(4 * brick, 4 * brick + 4)
            halves += f'<zone id="brick{brick}" routing="Floyd">\n'
            for shub in shubs:
                halves += (f'<cluster id="s{shub}" prefix="node-" suffix="" radical="{2 * shub}-{2 * shub + 1}" '
                           f'speed="1Gf" bw="1.67GBps" lat="1385ns" router_id="r{shub}"/>\n')
            halves += hub("brick", brick, [f"s{i}" for i in shubs], [f"r{i}" for i in shubs],
                          'bandwidth="1.05GBps" latency="640ns"') + "</zone>\n"
        halves += hub("half", half, [f"brick{i}" for i in bricks], [f"b{i}" for i in bricks],
                      'bandwidth="956MBps" latency="205ns"') + "</zone>\n"
    return (f'<zone id="altix" routing="Full">\n{halves}'
            '<link id="between-halves" bandwidth="361.5MBps" latency="500ns"/>\n'
            '<zoneRoute src="half0" dst="half1" gw_src="h0" gw_dst="h1"><link_ctn id="between-halves"/></zoneRoute>\n'
            "</zone>")


FAMILIES = {of.__name__: of for of in (fat_tree, torus, dragonfly, gigabit, altix)}


def platform(name):
    """The platform of this name. Raises ValueError where there is none."""
    match = re.fullmatch(r"([a-z_]+)-([1-9]\d*)(?:x([1-9]\d*))?", name)
    if not match or match.group(1) not in FAMILIES:
        raise ValueError(f"{name}: not one of {', '.join(FAMILIES)}, '-', ranks and 'x' ranks per node")
    ranks, per_node = int(match.group(2)), int(match.group(3) or 1)
    if match.group(1) == "altix" and per_node > 1:
        raise ValueError(f"{name}: the hosts of an altix are its CPUs")
    return Platform(name, FAMILIES[match.group(1)](math.ceil(ranks / per_node)),
                    [f"node-{rank // per_node}" for rank in range(ranks)])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for name in sys.argv[2:]:
            platform(name).write(folder)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
