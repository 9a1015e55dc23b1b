#!/usr/bin/env python3
"""A cluster without a cluster: nodes as network namespaces on one machine, real MPI jobs over TCP between them.

usage: bench/cluster/virtual_cluster.py [--nodes 4] [--ranks-per-node 2] [--rate 1gbit] [--rails 1] [--mpi openmpi|mpich]
                                -- PROGRAM [ARGUMENT...]

Every node has its own host name, /etc/hosts, shared memory and network devices (rails), each of which leads over
a link of the given rate to a switch of its own. Open MPI and MPICH take the nodes for different hosts. Needs root
and Linux; what it makes is gone when it ends. Correctness, hierarchy and ratios can be studied here, and rates low
enough that the link is the limit; absolute times belong to real machines.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

TOOLS = ("ip", "tc", "nsenter", "unshare")
NAMESPACES = ("-n", "-u", "-i", "-m")  # network, host name, shared memory, mounts


class Unavailable(Exception):
    """This machine cannot hold a virtual cluster."""


def check_available():
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"needs {', '.join(missing)} (Debian: iproute2, util-linux)")
    if os.geteuid() != 0:
        raise Unavailable("needs root")
    done = subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "true"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Unavailable(f"namespaces are forbidden here: {done.stderr.strip()}")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class VirtualCluster:
    """Nodes node0, node1, ... while the `with` block lasts. `rate` and `burst` are those of tc-tbf.

    Pinned nodes have a core each, in turn: ranks that wait busily take none of another node's time.
    """

    def __init__(self, nodes, rate="1gbit", rails=1, burst="16kb", pinned=False):
        self.nodes, self.rate, self.rails, self.burst = nodes, rate, rails, burst
        cores = sorted(os.sched_getaffinity(0))
        self.pins = [["taskset", "-c", str(cores[n % len(cores)])] if pinned else [] for n in range(nodes)]
        self.processes = []  # that hold the namespaces: the switch's, then the nodes'

    def __enter__(self):
        check_available()
        self.folder = tempfile.TemporaryDirectory(prefix="ayatori-cluster-")
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        self.processes = []
        self.folder.cleanup()

    def hold(self, *namespaces):
        """A process in new namespaces, which it keeps alive."""
        process = subprocess.Popen(["unshare", *namespaces, "sh", "-c", "echo ready; exec sleep infinity"],
                                   stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        if process.stdout.readline() != "ready\n":
            raise Unavailable("no namespaces")
        return process.pid

    def inside(self, pid, *words):
        run("nsenter", "-t", pid, *NAMESPACES, *words)

    def build(self):
        switch = self.hold("--net", "--uts", "--ipc", "--mount")
        for rail in range(self.rails):
            self.inside(switch, "ip", "link", "add", f"rail{rail}", "type", "bridge")
            self.inside(switch, "ip", "link", "set", f"rail{rail}", "up")
        self.pids = [self.hold("--net", "--uts", "--ipc", "--mount") for _ in range(self.nodes)]
        hosts = pathlib.Path(self.folder.name) / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{n + 1} node{n}\n" for n in range(self.nodes)))
        for node, pid in enumerate(self.pids):
            self.inside(pid, "hostname", f"node{node}")
            self.inside(pid, "mount", "--bind", hosts, "/etc/hosts")
            self.inside(pid, "ip", "link", "set", "lo", "up")
            for key, value in (("arp_ignore", 1), ("arp_announce", 2)):  # a rail answers for itself only
                self.inside(pid, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/conf/all/{key}")
            for rail in range(self.rails):
                self.plug(switch, node, pid, rail)
        self.agent = pathlib.Path(self.folder.name) / "enter"
        cases = "".join(f"node{n}) pid={pid} pin='{' '.join(self.pins[n])}' ;;\n" for n, pid in enumerate(self.pids))
        self.agent.write_text("#!/bin/sh\n# Stands in for ssh: enters the node that is named.\n"
                              "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                              f"case $1 in\n{cases}*) echo \"no such node: $1\" >&2; exit 1 ;;\nesac\nshift\n"
                              f"exec $pin nsenter -t $pid {' '.join(NAMESPACES)} sh -c \"$*\"\n")
        self.agent.chmod(0o755)

    def plug(self, switch, node, pid, rail):
        device, port = f"eth{rail}", f"n{node}r{rail}"
        self.inside(switch, "ip", "link", "add", port, "type", "veth", "peer", "name", device, "netns", pid)
        self.inside(switch, "ip", "link", "set", port, "master", f"rail{rail}", "up")
        address = f"10.77.{rail}.{node + 1}"
        self.inside(pid, "ip", "address", "add", f"{address}/24", "dev", device)
        self.inside(pid, "ip", "link", "set", device, "up")
        # A short time-out: a lost packet would cost 200 ms, which no real cluster's network does.
        self.inside(pid, "ip", "route", "replace", f"10.77.{rail}.0/24", "dev", device, "src", address,
                    "rto_min", "5ms")
        # A queue deeper than what TCP keeps under way: dropped packets would be the limit instead of the rate. A
        # burst goes through at once, so a long one would let messages of its length pass the limit.
        shaping = ("root", "tbf", "rate", self.rate, "burst", self.burst, "latency", "400ms")
        self.inside(pid, "tc", "qdisc", "add", "dev", device, *shaping)
        self.inside(switch, "tc", "qdisc", "add", "dev", port, *shaping)

    def command(self, mpi, ranks_per_node, words):
        """The words that start a job on all nodes from node0, and the environment that they need."""
        devices = ",".join(f"eth{rail}" for rail in range(self.rails))
        hosts = ",".join(f"node{n}:{ranks_per_node}" for n in range(self.nodes))
        ranks = str(self.nodes * ranks_per_node)
        if mpi == "openmpi":
            launcher = ["mpirun.openmpi", "--allow-run-as-root", "--host", hosts, "-n", ranks, "--bind-to", "none",
                        "--mca", "plm_rsh_agent", str(self.agent), "--mca", "btl", "self,vader,tcp",
                        "--mca", "btl_tcp_if_include", devices, "--mca", "oob_tcp_if_include", "eth0",
                        "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1",
                        "--mca", "pml", "ob1"]
            environment = {}
        else:
            launcher = ["mpiexec.hydra", "-hosts", hosts, "-n", ranks, "-launcher", "ssh", "-launcher-exec",
                        str(self.agent), "-iface", "eth0"]
            environment = {"UCX_NET_DEVICES": devices, "UCX_TLS": "tcp,self,sysv,posix", "FI_PROVIDER": "tcp",
                           "FI_TCP_IFACE": "eth0"}
        return [*launcher, *words], environment

    def run(self, words, mpi="openmpi", ranks_per_node=2, **keywords):
        """Runs a job on all nodes; gives what subprocess.run() gives."""
        command, environment = self.command(mpi, ranks_per_node, words)
        return subprocess.run([*self.pins[0], "nsenter", "-t", str(self.pids[0]), *NAMESPACES, *command], check=False,
                              env=os.environ | {"OMP_NUM_THREADS": "1"} | environment, **keywords)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--ranks-per-node", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="of every link, as tc takes it")
    parser.add_argument("--rails", type=int, default=1, help="network devices of a node")
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that `with` cleans up
    try:
        with VirtualCluster(options.nodes, options.rate, options.rails) as cluster:
            return cluster.run(options.program, options.mpi, options.ranks_per_node).returncode
    except Unavailable as reason:
        print(f"no virtual cluster: {reason}", file=sys.stderr)
        return 77


if __name__ == "__main__":
    sys.exit(main())
