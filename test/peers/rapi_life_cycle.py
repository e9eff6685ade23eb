"""Drives a cluster with Ganeti's own client through the life of an instance.

usage: rapi_life_cycle.py URL USER  (the password comes on standard input)
Prints one line for each step; exits 1 at the first that does not do what Ganeti's would.
"""
import sys
import warnings
from urllib.parse import urlparse

warnings.simplefilter("ignore")
import ganeti.rapi.client as rapi

url = urlparse(sys.argv[1])
password = sys.stdin.readline().strip()
client = rapi.GanetiRapiClient(url.hostname, port=url.port, username=sys.argv[2], password=password)


def step(name, check, wanted):
    got = check()
    print("%-24s %r" % (name, got))
    if got != wanted:
        sys.exit("%s: wanted %r, got %r" % (name, wanted, got))


def job(job_id):
    """Waits for the job; its end, and what it said when it failed."""
    if client.WaitForJobCompletion(job_id, period=0.1):
        return "success"
    return "%(status)s %(opresult)s %(oplog)s" % client.GetJobStatus(job_id)


def state():
    instance = client.GetInstance("vm1")
    return instance["status"], instance["pnode"].split(".")[0]


nodes = client.GetNodes()
primary = nodes[0]
step("version", client.GetVersion, 2)
step("nodes", lambda: len(nodes), 3)
create = dict(os="gantry-tiny", beparams={"memory": 64, "vcpus": 1}, pnode=primary, ip_check=False, name_check=False)
step("create", lambda: job(client.CreateInstance("create", "vm1", "sharedfile", [{"size": 16}], [{}], **create)), "success")
step("runs", state, ("running", "node1"))
step("info", lambda: job(client.GetInstanceInfo("vm1")), "success")
step("shutdown", lambda: job(client.ShutdownInstance("vm1", timeout=5)), "success")
step("is down", state, ("ADMIN_down", "node1"))
step("startup", lambda: job(client.StartupInstance("vm1")), "success")
step("reboot", lambda: job(client.RebootInstance("vm1", reboot_type="hard")), "success")
step("migrate", lambda: job(client.MigrateInstance("vm1", mode="live", target_node=nodes[1])), "success")
step("is on node 2", state, ("running", "node2"))
step("failover", lambda: job(client.FailoverInstance("vm1", target_node=nodes[2])), "success")
step("is on node 3", state, ("running", "node3"))
step("tags", lambda: job(client.AddInstanceTags("vm1", ["blue"])), "success")
step("tag is there", lambda: client.GetInstanceTags("vm1"), ["blue"])
step("console kind", lambda: client.GetInstanceConsole("vm1")["kind"] in ("ssh", "msg"), True)
step("remove", lambda: job(client.DeleteInstance("vm1")), "success")
step("nothing left", client.GetInstances, [])
