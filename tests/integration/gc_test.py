"""Garbage collection, the end of namespaces and of Events, as kubectl and the API show them."""

import json
import time

from harness import Fairlead, ROUTES, ServerTest, main, route, until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fairlead-controllers"


class Collection(ServerTest):
    SERVE_ARGS = ("--event-ttl", "2s")

    def setUp(self):
        self.server.request("DELETE", ROUTES)
        until(lambda: not self.names(), "an empty start")

    def names(self):
        return [item["metadata"]["name"] for item in self.server.request("GET", ROUTES)[2]["items"]]

    def make(self, name, owners=(), finalizers=(), block=True):
        body = route(name, host=f"{name}.example.com")
        body["metadata"]["finalizers"] = list(finalizers)
        body["metadata"]["ownerReferences"] = [
            {"apiVersion": "route.openshift.io/v1", "kind": "Route", "name": owner["metadata"]["name"],
             "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block} for owner in owners]
        status, _, made = self.server.request("POST", ROUTES, body)
        self.assertEqual(201, status, made)
        return made

    def release(self, name):
        status, _, answer = self.server.request("PATCH", f"{ROUTES}/{name}", {"metadata": {"finalizers": None}},
                                                {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(200, status, answer)

    def test_background(self):
        a = self.make("a")
        b = self.make("b", [a])
        self.make("c", [b])
        self.kubectl("delete", "route", "a", "--cascade=background", "--timeout=30s")
        until(lambda: not self.names(), "the dependents to go after the owner")

    def test_foreground(self):
        a = self.make("a")
        self.make("b", [a], finalizers=["example.com/hold"])
        self.kubectl("delete", "route", "a", "--cascade=foreground", "--wait=false")
        until(lambda: self.server.request("GET", f"{ROUTES}/b")[2]["metadata"].get("deletionTimestamp"),
              "the dependent to be deleted")
        a = self.server.request("GET", f"{ROUTES}/a")[2]
        self.assertEqual(["foregroundDeletion"], a["metadata"]["finalizers"])
        self.release("b")
        until(lambda: not self.names(), "the owner to go after its dependent")

    def test_orphan(self):
        a = self.make("a")
        self.make("b", [a])
        self.kubectl("delete", "route", "a", "--cascade=orphan", "--timeout=30s")
        self.assertEqual(["b"], self.names())
        b = self.server.request("GET", f"{ROUTES}/b")[2]
        self.assertNotIn("ownerReferences", b["metadata"])
        self.assertNotIn("deletionTimestamp", b["metadata"])

    def test_an_owner_in_another_namespace_counts_as_absent(self):
        self.kubectl("create", "ns", "elsewhere")
        self.kubectl("create", "secret", "generic", "owner", "-n", "elsewhere", "--from-literal=a=b")
        uid = self.kubectl("get", "secret", "owner", "-n", "elsewhere", "-o", "jsonpath={.metadata.uid}").stdout
        body = route("stray")
        body["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": uid}]
        self.server.request("POST", ROUTES, body)
        until(lambda: not self.names(), "the stray to go")
        self.kubectl("delete", "ns", "elsewhere", "--timeout=30s")

    def test_a_namespace_goes_with_its_content(self):
        self.kubectl("create", "ns", "full")
        path = ROUTES.replace("/default/", "/full/")
        for i in range(200):
            self.server.request("POST", path, route(f"r{i}", namespace="full", host=f"r{i}.example.com"))
        self.kubectl("delete", "ns", "full", "--timeout=60s")
        self.assertIn("NotFound", self.kubectl("get", "ns", "full", check=False).stderr)
        self.assertEqual([], self.server.request("GET", path)[2]["items"])

    def test_a_namespace_that_is_held_says_why(self):
        self.kubectl("create", "ns", "held")
        path = ROUTES.replace("/default/", "/held/")
        body = route("r", namespace="held")
        body["metadata"]["finalizers"] = ["example.com/hold"]
        self.server.request("POST", path, body)
        self.kubectl("delete", "ns", "held", "--wait=false")

        def conditions():
            status = self.server.request("GET", "/api/v1/namespaces/held")[2]["status"]
            return {each["type"]: each for each in status.get("conditions", [])}

        until(lambda: "NamespaceFinalizersRemaining" in conditions(), "the conditions")
        found = conditions()
        self.assertEqual("True", found["NamespaceContentRemaining"]["status"])
        self.assertEqual("Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
                         found["NamespaceFinalizersRemaining"]["message"])
        self.assertIn("Terminating", self.kubectl("get", "ns", "held").stdout)
        late = self.server.request("POST", path, route("late", namespace="held"))
        self.assertEqual(403, late[0])
        self.assertEqual("NamespaceTerminating", late[2]["details"]["causes"][0]["reason"])
        self.server.request("PATCH", f"{path}/r", {"metadata": {"finalizers": None}},
                            {"Content-Type": "application/merge-patch+json"})
        until(lambda: self.server.request("GET", "/api/v1/namespaces/held")[0] == 404, "the namespace to go")

    def test_events_end(self):
        event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default", "kind": "Route", "name": "a"},
                 "reason": "Tested", "message": "soon over", "type": "Normal"}
        path = "/api/v1/namespaces/default/events"
        self.assertEqual(201, self.server.request("POST", path, event)[0])
        self.assertEqual(200, self.server.request("GET", f"{path}/e")[0])
        until(lambda: self.server.request("GET", f"{path}/e")[0] == 404, "the event to end")

    def test_health_and_metrics(self):
        self.assertIn("[+]controllers ok", self.server.request("GET", "/readyz?verbose")[2].decode())
        text = self.server.request("GET", "/metrics")[2].decode()
        for line in ('leader_election_master_status{name="fairlead-controllers"} 1',
                     'workqueue_depth{name="garbage-collector"}',
                     'controller_runtime_reconcile_total{controller="namespace-lifecycle",result="success"}'):
            self.assertIn(line, text)


class Restarts(ServerTest):
    @classmethod
    def setUpClass(cls):
        pass

    def start(self, *args, data=None):
        server = Fairlead(*args, data=data)
        self.addCleanup(server.remove)
        return server.start()

    def test_a_clean_stop_gives_the_lease_back_and_a_crash_does_not_hold_it_up(self):
        server = self.start()
        holder = until(lambda: server.request("GET", LEASE)[2].get("spec", {}).get("holderIdentity"), "a leader")
        server.kill()
        began = time.monotonic()
        server.start()
        server.kubectl("create", "ns", "n")
        server.kubectl("delete", "ns", "n", "--timeout=30s")
        self.assertLess(time.monotonic() - began, 10, "the own lease is taken over at once, not after its 15 s")
        lease = server.request("GET", LEASE)[2]
        self.assertEqual(holder, lease["spec"]["holderIdentity"])
        self.assertEqual(0, lease["spec"]["leaseTransitions"])
        self.assertEqual(0, server.stop())
        server.args = ("--roles", "api")
        server.start()
        self.assertEqual("", server.request("GET", LEASE)[2]["spec"].get("holderIdentity", ""))

    def test_what_was_begun_is_finished_after_a_crash(self):
        server = self.start("--roles", "api")
        made = server.request("POST", ROUTES, route("a"))[2]
        child = route("b", host="b.example.com")
        child["metadata"]["ownerReferences"] = [{"apiVersion": "route.openshift.io/v1", "kind": "Route", "name": "a",
                                                 "uid": made["metadata"]["uid"]}]
        server.request("POST", ROUTES, child)
        server.kubectl("create", "ns", "n")
        server.request("POST", ROUTES.replace("/default/", "/n/"), route("c", namespace="n"))
        server.request("DELETE", f"{ROUTES}/a", json.dumps({"propagationPolicy": "Foreground"}))
        server.kubectl("delete", "ns", "n", "--wait=false")
        self.assertEqual(200, server.request("GET", f"{ROUTES}/a")[0], "no controllers, so it waits")
        server.kill()
        server.args = ()
        server.start()
        until(lambda: not server.request("GET", ROUTES)[2]["items"], "the collection to be finished")
        until(lambda: server.request("GET", "/api/v1/namespaces/n")[0] == 404, "the namespace to go")


if __name__ == "__main__":
    main()
