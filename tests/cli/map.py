"""ayatori map: the placement, the launcher's file, the picture, and every bad input, on any number of ranks."""

import json
import random
import unittest
import xml.etree.ElementTree

from harness import RANKS, CommandTest, matrix_market

GRID = ["map", "poisson2d-5:n=24", "--ranks", "24", "--ranks-per-node", "4"]


def trace(messages, ranks, hosts):
    return json.dumps({"schema": "ayatori.trace/1", "mpi": "", "ranks": ranks, "hosts": hosts, "messages": messages,
                       "calls": [], "communicators": []})


class Map(CommandTest):
    def place(self, *arguments, status=0):
        done = self.run_ayatori(*arguments, "--json", "map.json")
        self.assertEqual(done.returncode, status, done.stderr)
        return self.read_result("map.json"), done

    def assert_full(self, placement):
        nodes = placement["node_of_rank"]
        self.assertEqual(len(nodes), placement["ranks"])
        left = placement["ranks"]
        for node in range(placement["nodes"]):
            expected = min(left, placement["ranks_per_node"])
            self.assertEqual(nodes.count(node), expected)
            left -= expected

    def test_the_communication_matrix(self):
        for ranks, cells in ((24, 24), (600, 256)):
            placement, _ = self.place("map", "poisson2d-5:n=60", "--ranks", ranks, "--ranks-per-node", "4", "--network", f"torus:{ranks // 8}x2")
            communication = placement["communication"]
            self.assertEqual(communication["cells"], cells)
            for name in ("order_of_ranks", "placed"):
                map_ = communication[name]
                self.assertEqual(sum(map_["bytes"]), placement[name]["bytes"])
                self.assertEqual(len(set(zip(map_["from"], map_["to"], strict=True))), len(map_["bytes"]))
                self.assertLess(max(map_["from"] + map_["to"]), cells)
                if cells == ranks:
                    inside = sum(b for i, j, b in zip(map_["from"], map_["to"], map_["bytes"]) if i // 4 == j // 4)
                    self.assertEqual(inside, placement[name]["bytes_inside"])

    def test_a_matrix_on_a_torus(self):
        for partition in ("rows", "graph"):
            placement, done = self.place(*GRID, "--network", "torus:3x2", "--partition", partition, "--svg", "map.svg",
                                         "--launcher", "openmpi5", "-o", "rankfile")
            self.assert_full(placement)
            self.assertLessEqual(placement["placed"]["seconds"], placement["order_of_ranks"]["seconds"])
            for words in ("24 ranks, 4 on each of 6 nodes of torus:3x2", "order of ranks",
                          "mpirun -n 24 --map-by rankfile:file=rankfile PROGRAM"):
                self.assertIn(words, done.stderr)
            lines = (self.folder / "rankfile").read_text().splitlines()
            for rank, (line, node) in enumerate(zip(lines, placement["node_of_rank"], strict=True)):
                self.assertRegex(line, rf"^rank {rank}=\+n{node} slot=[0-3]$")
            picture = xml.etree.ElementTree.parse(self.folder / "map.svg").getroot()
            self.assertTrue(picture.tag.endswith("svg"))
            self.assert_no_leftovers("map.json", "map.svg", "rankfile")

    def test_collectives_are_placed_with_the_exchange(self):
        placement, done = self.place("map", "poisson2d-5:n=12", "--ranks", "4", "--ranks-per-node", "2", "--collective",
                                     "allreduce:8:2", "--collective", "bcast:4K", "--schedules", "schedules.json")
        self.assertIn("with the best collectives of each placement", done.stderr)
        joint = placement["joint"]
        self.assertEqual(joint["calls"], [{"operation": "allreduce", "bytes": 8, "calls": 2.0},
                                          {"operation": "broadcast", "bytes": 4096, "calls": 1.0}])
        taken = joint["placements"][0]
        self.assertEqual(taken["how"], placement["how"])
        together = [place["exchange_seconds"] + place["collective_seconds"] for place in joint["placements"]]
        self.assertTrue(taken["how"] == "order of ranks" or together[0] == min(together))
        self.assert_no_leftovers("map.json", "schedules.json")
        if RANKS == 4:
            done = self.run_ayatori("collectives", "bench", "--schedules", "schedules.json", "--calls", "2")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_messages_of_the_collectives_of_every_placement(self):
        placement, _ = self.place("map", "poisson2d-5:n=12", "--ranks", "6", "--ranks-per-node", "2", "--collective",
                                  "allgather:600:3", "--collective", "bcast:1000", "--messages", "m.json")
        written = json.loads((self.folder / "m.json").read_text())
        self.assertEqual([place["how"] for place in written], [place["how"] for place in placement["joint"]["placements"]])
        self.assertEqual(written[0]["node_of_rank"], placement["node_of_rank"])
        for place in written:
            allgather, broadcast = place["collectives"]
            self.assertEqual([allgather["calls"], broadcast["calls"]], [3, 1])
            arrived = [0] * 6
            for message in sum(allgather["rounds"], []):
                arrived[message[1]] += message[2]
            self.assertEqual(arrived, [500] * 6)
            sent = sum(message[2] for message in sum(broadcast["rounds"], []))
            self.assertGreaterEqual(sent, 5 * 1000)

    def test_bad_collectives(self):
        for arguments, words in (
            (["--collective", "allreduce"], "OPERATION:BYTES"),
            (["--collective", "dance:8"], "dance"),
            (["--collective", "allreduce:8x"], "'8x' is no size"),
            (["--collective", "allreduce:8:-1"], "'-1' is no number of calls"),
            (["--collective", "alltoall:3"], "a block of its own"),
            (["--schedules", "s.json"], "--schedules wants --collective"),
            (["--messages", "m.json"], "--messages wants --collective"),
        ):
            done = self.run_ayatori(*GRID, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)

    def test_the_command_of_every_launcher(self):
        self.write("hosts", "".join(f"h{node}\n" for node in range(6)))
        for launcher, command in {
            "openmpi4": "mpirun -n 24 --rankfile out PROGRAM",
            "openmpi5": "mpirun -n 24 --map-by rankfile:file=out PROGRAM",
            "mpich": "mpiexec -n 24 -f out PROGRAM",
            "slurm": "SLURM_HOSTFILE=out srun -n 24 --distribution=arbitrary PROGRAM",
            "cray": "cp out MPICH_RANK_ORDER; MPICH_RANK_REORDER_METHOD=3 srun -n 24 --distribution=plane=4 PROGRAM",
            "fujitsu": 'pjsub --mpi "rank-map-hostfile=out" JOB',
        }.items():
            done = self.run_ayatori(*GRID, "--launcher", launcher, "--hosts", "hosts", "-o", "out")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{command}\n", done.stderr)

    def test_block_rows_of_a_grid_talk_to_two_neighbours(self):
        placement, _ = self.place(*GRID, "--objective", "messages")
        self.assertEqual(placement["order_of_ranks"]["messages"], 2 * 23)
        self.assertEqual(placement["order_of_ranks"]["messages_inside"], 2 * 3 * 6)
        self.assertEqual(placement["order_of_ranks"]["bytes"], 2 * 23 * 24 * 8)
        self.assertEqual(placement["how"], "order of ranks")

    def test_a_file_is_as_good_as_its_generator(self):
        self.assertEqual(self.run_ayatori("generate", "poisson2d-5:n=24", "-o", "A.mtx").returncode, 0)
        for partition in ("rows", "graph"):
            of_file, _ = self.place("map", "A.mtx", *GRID[2:], "--partition", partition)
            of_generator, _ = self.place(*GRID, "--partition", partition)
            for results in (of_file, of_generator):
                del results["seconds"]
            self.assertEqual(of_file, of_generator)

    def test_comments_in_a_hosts_file_are_no_hosts(self):
        arguments = ["map", "poisson3d-27:n=8", "--ranks", "6", "--ranks-per-node", "2", "--launcher", "openmpi4", "--hosts", "hosts"]
        files = []
        for content in ("a\nb\nc\n", "#nodes\na\n\n  b slots=2 # of rack 1\nc:2\n"):
            self.write("hosts", content)
            done = self.run_ayatori(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            files.append(done.stdout)
        self.assertEqual(files[0], files[1])
        self.assertEqual({line.split("=")[1].split()[0] for line in files[0].splitlines()}, {"a", "b", "c"})

    def test_a_trace_with_its_own_hosts(self):
        # A ring whose ranks are far apart: 12 ranks on 3 hosts, rank i talks to i + 5.
        messages = sorted([i, (i + 5) % 12, 3, 300] for i in range(12))
        self.write("trace.json", trace(messages, 12, [f"host{i // 4}" for i in range(12)]))
        placement, done = self.place("map", "--trace", "trace.json", "--network", "fat-tree:2:2",
                                     "--launcher", "slurm", "--objective", "bytes")
        self.assert_full(placement)
        self.assertEqual(placement["order_of_ranks"]["bytes_inside"], 0)
        self.assertEqual(placement["placed"]["bytes_inside"], 9 * 300)
        self.assertEqual(done.stdout.split(), [f"host{node}" for node in placement["node_of_rank"]])

    def test_uneven_nodes_of_a_trace_stay_uneven(self):
        hosts = [f"host{name}" for name in "abaabcaab"]
        messages = [[a, (a + 1) % 9, 1, 100] for a in range(9)]
        self.write("trace.json", trace(messages, 9, hosts))
        placement, done = self.place("map", "--trace", "trace.json", "--objective", "messages", "--launcher", "slurm")
        self.assertEqual([placement["node_of_rank"].count(node) for node in range(3)], [5, 3, 1])
        self.assertEqual(placement["ranks_per_node"], 5)
        self.assertEqual(placement["order_of_ranks"]["messages_inside"],
                         sum(hosts[a] == hosts[(a + 1) % 9] for a in range(9)))
        self.assertEqual(placement["placed"]["messages_inside"], 6)
        self.assertEqual(done.stdout.split(), [f"host{'abc'[node]}" for node in placement["node_of_rank"]])
        done = self.run_ayatori("map", "--trace", "trace.json", "--launcher", "cray")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--launcher slurm", done.stderr)

    def test_graphs_of_both_formats(self):
        order = list(range(1, 13))
        random.Random(1).shuffle(order)
        pairs = [(order[i], order[i + 1]) for i in range(11)]
        both = sorted([(a, b, 100.0) for a, b in pairs] + [(b, a, 100.0) for a, b in pairs])
        self.write("path.mtx", matrix_market(both, 12))
        peers = [[b for a, b, _ in both if a == rank] for rank in range(1, 13)]
        self.write("path.graph", "12 11 1\n" + "".join(" ".join(f"{p} 100" for p in row) + "\n" for row in peers))
        results = []
        for name in ("path.mtx", "path.graph"):
            placement, _ = self.place("map", "--graph", name, "--ranks-per-node", "5", "--objective", "bytes")
            self.assert_full(placement)
            self.assertEqual(placement["placed"]["bytes_inside"], 2 * 9 * 100)
            results.append(placement["node_of_rank"])
        self.assertEqual(results[0], results[1])

    def test_the_graph_that_is_written_can_be_read(self):
        of_matrix, _ = self.place(*GRID, "--graph-output", "graph.mtx", "--objective", "bytes")
        of_graph, _ = self.place("map", "--graph", "graph.mtx", "--ranks-per-node", "4", "--objective", "bytes")
        for results in (of_matrix, of_graph):
            del results["seconds"]
        self.assertEqual(of_matrix, of_graph)

    def test_placements_from_elsewhere_are_compared(self):
        self.write("order", "".join(f"{rank // 4}\n" for rank in range(24)))
        self.write("reverse", " ".join(str(5 - rank // 4) for rank in range(24)))
        self.write("one", "2\n" * 24)
        placement, done = self.place(*GRID, "--network", "mesh:7", "--compare", "order", "--compare", "reverse", "--compare", "one")
        order, reverse, one = placement["compared"]
        self.assertEqual({**placement["order_of_ranks"], "file": "order"}, order)
        self.assertEqual((reverse["hop_bytes"], reverse["file"]), (order["hop_bytes"], "reverse"))
        self.assertEqual((one["messages_inside"], one["hop_bytes"]), (one["messages"], 0))
        self.assertIn("reverse ", done.stderr)
        for content, word in (("0\n" * 23, "23 nodes; a number for each of 24 ranks"), ("7\n" * 24, "node 7 is not one of 0 to 6"),
                              ("0\n" * 23 + "x", "a number for each"), ("0\n" * 25, "25 nodes")):
            self.write("wrong", content)
            done = self.run_ayatori(*GRID, "--network", "mesh:7", "--compare", "wrong")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr)

    def test_the_platform_is_for_simgrid(self):
        self.place(*GRID, "--network", "torus:3x2", "--platform", "torus.xml")
        zone = xml.etree.ElementTree.parse(self.folder / "torus.xml").getroot()[0]
        self.assertEqual([zone.get("id"), len(zone.findall("host")), len(zone.findall("route"))], ["network", 6, 36])
        self.assert_no_leftovers("map.json", "torus.xml")

    def test_costs_of_a_machine(self):
        placement, _ = self.place(*GRID[:2], "--ranks", "8", "--ranks-per-node", "2", "--network",
                                  "measured:pc-cluster-gbe")
        self.assertEqual(placement["model"]["source"], "pc-cluster-gbe")
        self.assertAlmostEqual(placement["model"]["between_latency"], 111e-6)

    def test_bad_input(self):
        self.write("trace.json", "{}")
        self.write("bad.graph", "2 1\n2\n7\n")
        self.write("wide.mtx", matrix_market([(1, 2, 1.0)], 2, 3))
        self.write("negative.mtx", matrix_market([(1, 2, -1.0)], 2))
        self.write("hosts", "a\nb\n")
        self.write("twice", "a\n# and again\na\n")
        self.write("user", "a\nb user=x\n")
        self.write("small", "a\nb slots=3\nc\nd\ne\nf\n")
        cases = [
            (["map"], ["MATRIX", "--trace"]),
            ([*GRID, "--trace", "trace.json"], ["one of"]),
            (["map", "poisson2d-5:n=24"], ["--ranks"]),
            (["map", "poisson2d-5:n=24", "--ranks", "4"], ["--ranks-per-node"]),
            (["map", "poisson2d-5:n=24", "--ranks", "0", "--ranks-per-node", "4"], ["ranks"]),
            (["map", "poissson:n=3", *GRID[2:]], ["poissson"]),
            (["map", "--trace", "trace.json"], ["trace.json"]),
            (["map", "--trace", "missing.json"], ["missing.json"]),
            (["map", "--graph", "bad.graph", "--ranks-per-node", "1"], ["bad.graph, line 3", "7"]),
            (["map", "--graph", "wide.mtx", "--ranks-per-node", "1"], ["2 x 3"]),
            (["map", "--graph", "negative.mtx", "--ranks-per-node", "1"], ["(1, 2)"]),
            (["map", "--graph", "hosts", "--ranks-per-node", "1"], ["hosts"]),
            ([*GRID, "--partition", "magic"], ["magic", "graph"]),
            (["map", "poisson2d-5:n=4", "--ranks", "12", "--ranks-per-node", "4", "--partition", "graph"], ["16 rows"]),
            ([*GRID, "--network", "ring"], ["ring", "torus"]),
            ([*GRID, "--network", "torus:2x2"], ["4 nodes", "6"]),
            ([*GRID, "--network", "torus:2xtwo"], ["torus:2xtwo"]),
            ([*GRID, "--profile", "altix3700bx2"], ["altix3700bx2", "network"]),
            ([*GRID, "--profile", "missing.json"], ["missing.json"]),
            ([*GRID, "--objective", "magic"], ["magic", "hop-bytes"]),
            ([*GRID, "--launcher", "magic"], ["magic", "slurm"]),
            ([*GRID, "--launcher", "slurm"], ["--hosts"]),
            ([*GRID, "--launcher", "slurm", "--hosts", "hosts"], ["hosts", "2 hosts", "6"]),
            ([*GRID, "--launcher", "slurm", "--hosts", "twice"], ["twice, line 3", "line 1"]),
            ([*GRID, "--launcher", "slurm", "--hosts", "user"], ["user, line 2", "user=x"]),
            ([*GRID, "--launcher", "slurm", "--hosts", "small"], ["small, line 2", "3 slots of b", "4 ranks"]),
            ([*GRID, "--launcher", "fujitsu", "--network", "torus:2x2x2x2"], ["fujitsu", "4"]),
            ([*GRID, "-o", "rankfile"], ["--launcher"]),
        ]
        for arguments, words in cases:
            with self.subTest(arguments=arguments):
                done = self.run_ayatori(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)
        self.assertFalse((self.folder / "rankfile").exists())


if __name__ == "__main__":
    unittest.main()
