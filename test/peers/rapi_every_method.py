"""Calls every method of Ganeti's own client, and looks at what the cluster is afterwards.

usage: rapi_every_method.py URL USER  (the password comes on standard input)
Prints one line for each call; exits 1 at the first that does not do what Ganeti's would, or when a method was not called.
"""
import inspect
import sys
import warnings
from urllib.parse import urlparse

warnings.simplefilter("ignore")
import ganeti.rapi.client as rapi

url = urlparse(sys.argv[1])
password = sys.stdin.readline().strip()
called = set()


class Recorder(rapi.GanetiRapiClient):
    """The client, which notes what was called of it."""

    def __getattribute__(self, name):
        if name[0].isupper():
            called.add(name)
        return super().__getattribute__(name)


client = Recorder(url.hostname, port=url.port, username=sys.argv[2], password=password)


def expect(name, got, wanted):
    print("%-28s %r" % (name, got if len(repr(got)) < 90 else "%s..." % repr(got)[:90]))
    if got != wanted:
        sys.exit("%s: wanted %r, got %r" % (name, wanted, got))


def ended(job_id):
    return client.WaitForJobCompletion(job_id, period=0.05)


def done(name, job_id):
    if not ended(job_id):
        status = client.GetJobStatus(job_id)
        sys.exit("%s: %s %s" % (name, status["status"], status["opresult"]))
    print("%-28s success" % name)


def done_with_jobs(name, job_id):
    """Also the jobs that it submits: what comes next is about what they leave."""
    done(name, job_id)
    for [_, submitted] in client.GetJobStatus(job_id)["opresult"][0]["jobs"]:
        done("%s, job" % name, submitted)


def refused(name, job_id, text):
    """A job that has to fail, with this in its reason."""
    if ended(job_id):
        sys.exit("%s: was to fail" % name)
    result = repr(client.GetJobStatus(job_id)["opresult"])
    expect(name, text in result, True) if text in result else sys.exit("%s: %s" % (name, result))


def error_code(name, call, wanted):
    try:
        got = call()
    except rapi.GanetiApiError as err:
        got = err.code
    expect(name, got, wanted)


# The cluster
expect("GetVersion", client.GetVersion(), 2)
expect("GetFeatures", "instance-create-reqv1" in client.GetFeatures(), True)
expect("GetInfo", client.GetInfo()["protocol_version"] >= 40, True)
# Beside what the machine has.
expect("GetOperatingSystems", "gantry-tiny" in client.GetOperatingSystems(), True)
done("ModifyCluster", client.ModifyCluster(beparams={"vcpus": 1}))
done("RedistributeConfig", client.RedistributeConfig())
done("AddClusterTags", client.AddClusterTags(["prod"]))
expect("GetClusterTags", client.GetClusterTags(), ["prod"])
done("DeleteClusterTags", client.DeleteClusterTags(["prod"]))
expect("GetClusterTags", client.GetClusterTags(), [])
expect("Query", client.Query("node", ["name"])["data"][0], [[0, "node1.gantry.local"]])
expect("QueryFields", client.QueryFields("node", ["name"])["fields"][0]["kind"], "text")

# Filters
uuid = client.AddFilter(5, [["jobid", [">", "id", 1000000]]], "REJECT")
expect("GetFilters", client.GetFilters(), [uuid])
expect("GetFilters", client.GetFilters(bulk=True)[0]["action"], "REJECT")
client.ReplaceFilter(uuid, 7, [["jobid", [">", "id", 1000000]]], "PAUSE")
expect("GetFilter", client.GetFilter(uuid)["priority"], 7)
client.DeleteFilter(uuid)
error_code("GetFilter", lambda: client.GetFilter(uuid), 404)

# Nodes
nodes = client.GetNodes()
expect("GetNodes", nodes, ["node%d.gantry.local" % number for number in (1, 2, 3)])
expect("GetNodes", [node["role"] for node in client.GetNodes(bulk=True)], ["M", "C", "C"])
expect("GetNode", client.GetNode("node2")["offline"], False)
done("ModifyNode", client.ModifyNode("node3", ndparams={"spindle_count": 2}))
expect("GetNodeRole", client.GetNodeRole("node3"), "master-candidate")
done("SetNodeRole", client.SetNodeRole("node3", "drained"))
expect("GetNodeRole", client.GetNodeRole("node3"), "drained")
done("SetNodeRole", client.SetNodeRole("node3", "master-candidate"))
done("AddNodeTags", client.AddNodeTags("node2", ["rack:1"]))
expect("GetNodeTags", client.GetNodeTags("node2"), ["rack:1"])
done("DeleteNodeTags", client.DeleteNodeTags("node2", ["rack:1"]))
done("GetNodeStorageUnits", client.GetNodeStorageUnits("node1", "file", "name,size"))
refused("ModifyNodeStorageUnits", client.ModifyNodeStorageUnits("node1", "file", "x", allocatable=True), "can not be modified")
refused("RepairNodeStorageUnits", client.RepairNodeStorageUnits("node1", "file", "x"), "can not be repaired")

# Groups
done("CreateGroup", client.CreateGroup("rack2", alloc_policy="last_resort"))
expect("GetGroups", sorted(client.GetGroups()), ["default", "rack2"])
expect("GetGroups", len(client.GetGroups(bulk=True)), 2)
done("ModifyGroup", client.ModifyGroup("rack2", alloc_policy="preferred"))
expect("GetGroup", client.GetGroup("rack2")["alloc_policy"], "preferred")
done("AssignGroupNodes", client.AssignGroupNodes("rack2", ["node3"]))
expect("GetNode", client.GetNode("node3")["group.uuid"], client.GetGroup("rack2")["uuid"])
done("AssignGroupNodes", client.AssignGroupNodes("default", ["node3"]))
done("AddGroupTags", client.AddGroupTags("rack2", ["a"]))
expect("GetGroupTags", client.GetGroupTags("rack2"), ["a"])
done("DeleteGroupTags", client.DeleteGroupTags("rack2", ["a"]))
done("RenameGroup", client.RenameGroup("rack2", "rack3"))
done("DeleteGroup", client.DeleteGroup("rack3"))

# Networks
done("CreateNetwork", client.CreateNetwork("net1", "192.0.2.0/24", gateway="192.0.2.1", tags="x"))
expect("GetNetworks", client.GetNetworks(), ["net1"])
expect("GetNetworks", client.GetNetworks(bulk=True)[0]["gateway"], "192.0.2.1")
done("ModifyNetwork", client.ModifyNetwork("net1", add_reserved_ips=["192.0.2.9"]))
expect("GetNetwork", "192.0.2.9" in str(client.GetNetwork("net1")["external_reservations"]), True)
done("ConnectNetwork", client.ConnectNetwork("net1", "default", "bridged", "br0"))
done("DisconnectNetwork", client.DisconnectNetwork("net1", "default"))
done("AddNetworkTags", client.AddNetworkTags("net1", ["y"]))
expect("GetNetworkTags", sorted(client.GetNetworkTags("net1")), ["x", "y"])
done("DeleteNetworkTags", client.DeleteNetworkTags("net1", ["x"]))
done("DeleteNetwork", client.DeleteNetwork("net1"))

# Instances
common = dict(os="gantry-tiny", beparams={"memory": 64}, ip_check=False, name_check=False)
done("CreateInstance", client.CreateInstance("create", "vm1", "sharedfile", [{"size": 16}], [{}], pnode=nodes[0], **common))
expect("GetInstances", client.GetInstances(), ["vm1"])
expect("GetInstances", client.GetInstances(bulk=True)[0]["status"], "running")
expect("GetInstance", client.GetInstance("vm1")["disk_template"], "sharedfile")
done("GetInstanceInfo", client.GetInstanceInfo("vm1", static=True))
error_code("GetInstanceConsole", lambda: client.GetInstanceConsole("vm1")["kind"], "msg")
done("AddInstanceTags", client.AddInstanceTags("vm1", ["web"]))
expect("GetInstanceTags", client.GetInstanceTags("vm1"), ["web"])
done("DeleteInstanceTags", client.DeleteInstanceTags("vm1", ["web"]))
done("RebootInstance", client.RebootInstance("vm1", reboot_type="hard"))
done("MigrateInstance", client.MigrateInstance("vm1", target_node=nodes[1]))
done("FailoverInstance", client.FailoverInstance("vm1", target_node=nodes[2]))
expect("GetInstance", client.GetInstance("vm1")["pnode"], nodes[2])
done("GrowInstanceDisk", client.GrowInstanceDisk("vm1", 0, 8))
expect("GetInstance", client.GetInstance("vm1")["disk.sizes"], [24])
done("ModifyInstance", client.ModifyInstance("vm1", beparams={"memory": 96}))
done("ShutdownInstance", client.ShutdownInstance("vm1", timeout=1))
done("ActivateInstanceDisks", client.ActivateInstanceDisks("vm1"))
done("DeactivateInstanceDisks", client.DeactivateInstanceDisks("vm1"))
done("ReinstallInstance", client.ReinstallInstance("vm1", os="gantry-tiny", no_startup=True))
refused("RecreateInstanceDisks", client.RecreateInstanceDisks("vm1", disks=[0]), "exist")
refused("ReplaceInstanceDisks", client.ReplaceInstanceDisks("vm1", disks=[0]), "strange layout")
done("RenameInstance", client.RenameInstance("vm1", "vm2", name_check=False, ip_check=False))
done("StartupInstance", client.StartupInstance("vm2"))
done("PrepareExport", client.PrepareExport("vm2", "local"))
# Disks in files have no snapshots: a running instance would be off for the whole export, which has to be allowed.
done("ShutdownInstance", client.ShutdownInstance("vm2", timeout=1))
done("ExportInstance", client.ExportInstance("vm2", "local", nodes[0], shutdown=True))
done("StartupInstance", client.StartupInstance("vm2"))
many = [client.InstanceAllocation("create", name, "diskless", [], [], **common) for name in ("vm3", "vm4")]
allocated = client.InstancesMultiAlloc(many)
done("InstancesMultiAlloc", allocated)
for [status, job_id] in client.GetJobStatus(allocated)["opresult"][0]["jobs"]:
    expect("InstancesMultiAlloc", status, True)
    done("InstancesMultiAlloc", job_id)
expect("GetInstances", sorted(client.GetInstances()), ["vm2", "vm3", "vm4"])
done_with_jobs("MigrateNode", client.MigrateNode(client.GetInstance("vm2")["pnode"]))
done_with_jobs("EvacuateNode", client.EvacuateNode(client.GetInstance("vm2")["pnode"], mode="primary-only"))
for name in client.GetInstances():
    done("DeleteInstance", client.DeleteInstance(name))
expect("GetInstances", client.GetInstances(), [])
refused("PowercycleNode", client.PowercycleNode("node3", force=True), "virtual node")

# Jobs
job = client.ModifyCluster(beparams={"vcpus": 1})
expect("WaitForJobChange", client.WaitForJobChange(job, ["id"], None, None)["job_info"], [job])
done("WaitForJobCompletion", job)
expect("GetJobs", str(job) in [str(number) for number in client.GetJobs()], True)
expect("GetJobs", len(client.GetJobs(bulk=True)) >= job, True)
expect("GetJobStatus", client.GetJobStatus(job)["status"], "success")
expect("CancelJob", client.CancelJob(job)[0], False)

methods = {name for name, _ in inspect.getmembers(rapi.GanetiRapiClient, inspect.isfunction) if name[0].isupper()}
expect("methods that were not called", sorted(methods - called), [])
