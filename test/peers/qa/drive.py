"""Runs Ganeti's QA and goes on after a failure: drive.py CONFIGURATION [PART...]

Without parts, all are run; the cluster is made and destroyed with any, but long lists are left out. File descriptor 3 gets one line of
JSON for each test: its name, what it gave, what was said, and how long it took. Must run on the master.
"""
import importlib.util
import json
import os
import random
import sys
import time

QA = os.path.join(os.environ["PYTHONPATH"], "qa")
sys.path.append(QA)

spec = importlib.util.spec_from_file_location("ganeti_qa", os.path.join(QA, "ganeti-qa.py"))
qa = importlib.util.module_from_spec(spec)
spec.loader.exec_module(qa)

config, chosen = sys.argv[1], sys.argv[2:]
results = os.fdopen(3, "w", buffering=1)
os.set_inheritable(3, False)
seen = {}
place = []

# Later tests need the results of these functions.
MAKERS = ("TestInstanceAdd", "TestRapiInstanceAdd", "TestRapiInstanceMultiAlloc", "TestInstanceExport")

ALWAYS = ("set-up", "end")

# They list every field there is, which takes long, and find the same whenever it is.
ONCE = ("TestNodeList", "TestInstanceList", "TestJobList", "TestGroupList")
once = set(ONCE) if chosen else set()


class Stamped:
  """Says when each command began."""

  def __init__(self, stream):
    self.stream = stream

  def __getattr__(self, name):
    return getattr(self.stream, name)

  def write(self, text):
    self.stream.write(text.replace("Command:", time.strftime("%H:%M:%S Command:")))


class Abandoned(Exception):
  """What follows cannot be run."""


def record(name, outcome, text, started):
  name = "/".join(place + [name])
  seen[name] = seen.get(name, 0) + 1
  if seen[name] > 1:
    name = "%s#%d" % (name, seen[name])
  line = {"test": name, "outcome": outcome, "seconds": round(time.time() - started, 1)}
  if text:
    line["text"] = text[-2000:]
  results.write(json.dumps(line) + "\n")
  print("==== %s %s (%s s) %s" % (outcome, name, line["seconds"], text[-300:]), flush=True)


def mend(name, args):
  """Leaves what a test that failed would have left, so that those that follow are about themselves."""
  ran = qa.qa_utils.AssertCommand
  if name == "TestClusterRenewCrypto":
    qa.qa_rapi.ReloadCertificates()
  elif name == "TestOutOfBand":
    for node in qa.qa_config.get("nodes")[1:]:
      ran(["gnt-node", "modify", "--force", "--offline=no", node.primary])
  elif name in ("TestInstanceModifyDisks", "TestInstanceDeviceNames"):
    ran(["gnt-instance", "shutdown", args[0].name])
    ran(["gnt-instance", "modify", "--disk", "remove", args[0].name])
    ran(["gnt-instance", "startup", args[0].name])
  elif name == "TestInstanceReinstall":
    ran(["gnt-instance", "modify", "--os-parameters", "os-image=default", args[0].name])
  elif name == "TestInstanceRenameAndBack" and args[0] != args[1]:
    ran(["gnt-instance", "rename", args[1], args[0]])
  elif name == "TestSecretOsParams":
    master = qa.qa_config.GetMasterNode().primary
    for job in qa.qa_utils.GetCommandOutput(master, "gnt-job list --running --no-headers -o id").split():
      ran(["gnt-job", "cancel", "--kill", "--yes-do-it", job])
    ran(["gnt-cluster", "modify", "--max-running-jobs", "20"])


def run(fn, *args, **kwargs):
  started = time.time()
  name = getattr(fn, "__name__", repr(fn))
  if name in ONCE:
    if name in once:
      return None
    once.add(name)
  nodes = qa.qa_config.get("nodes")
  uses = [node.use_count for node in nodes]
  try:
    value = fn(*args, **kwargs)
  except Abandoned:
    raise
  except Exception as err:  # pylint: disable=broad-except
    record(name, "fails", "%s: %s" % (type(err).__name__, err), started)
    # Not every test gives back the nodes that it took.
    for node, count in zip(nodes, uses):
      node._use_count = count  # pylint: disable=protected-access
    mend(name, args)
    if name.startswith(MAKERS):
      raise Abandoned(name) from err
    return None
  record(name, "passes", "", started)
  return value


def part(name, fn, *args):
  """A part of the QA; what is left of one that is abandoned is not run."""
  if chosen and name not in chosen and name not in ALWAYS:
    return
  place.append(name)
  try:
    fn(*args)
  except Abandoned as err:
    print("==== abandoned: %s" % err, flush=True)
  except Exception as err:  # pylint: disable=broad-except
    record("itself", "fails", "%s: %s" % (type(err).__name__, err), time.time())
  place.pop()


def templates():
  """Each kind of disk by itself, so that one that fails keeps no other from being tried."""
  every = list(qa.qa_instance.available_instance_tests)
  for one in every:
    qa.qa_instance.available_instance_tests[:] = [one]
    part("%s instances" % one[1], qa.RunInstanceTests)
    # A part that was abandoned may have left instances behind.
    left = qa.qa_utils.GetCommandOutput(qa.qa_config.GetMasterNode().primary, "gnt-instance list --no-headers -o name")
    for name in left.split():
      qa.qa_utils.AssertCommand(["gnt-instance", "remove", "--force", name])


def with_node(fn, **kwargs):
  node = qa.qa_config.AcquireNode(**kwargs)
  try:
    fn(node)
  finally:
    node.Release()


def ordinary(node):
  qa.RunTestIf("node-readd", qa.qa_node.TestNodeReadd, node)
  qa.RunTestIf("node-modify", qa.qa_node.TestNodeModify, node)
  qa.RunTestIf("delay", qa.qa_cluster.TestDelay, node)


def any_node(node):
  qa.RunTestIf("tags", qa.qa_tags.TestNodeTags, node)
  if qa.qa_rapi.Enabled():
    qa.RunTest(qa.qa_rapi.TestNode, node)


def end():
  qa.RunTestIf("cluster-destroy", qa.qa_node.TestNodeRemoveAll)
  qa.RunTestIf("cluster-destroy", qa.qa_cluster.TestClusterDestroy)


@qa.UsesRapiClient
def main():
  qa.RunTest = run
  sys.stdout = Stamped(sys.stdout)
  # SSH on other ports is not tried here.
  qa.qa_iptables = sys.modules["qa.qa_iptables"]
  qa.qa_iptables.CleanRules = lambda nodes: None
  qa.qa_config.Load(config)
  # Fields and nodes are chosen by chance.
  random.seed(1)
  master = qa.qa_config.GetMasterNode()
  # Two modules of the same file: what is known to one should be known to the other.
  sys.modules["qa_utils"]._MULTIPLEXERS = qa.qa_utils._MULTIPLEXERS
  for node in qa.qa_config.get("nodes"):
    qa.qa_utils.StartMultiplexer(node.primary)
  # The QA waits so long for machines that are slower than these.
  wait = time.sleep
  time.sleep = lambda seconds: wait(min(seconds, 1))
  try:
    part("environment", qa.RunEnvTests)
    part("set-up", qa.SetupCluster)
    part("cluster", qa.RunClusterTests)
    part("os", qa.RunOsTests)
    part("tags", qa.RunTestIf, "tags", qa.qa_tags.TestClusterTags)
    for name, fn in (("nodes", qa.RunCommonNodeTests), ("groups", qa.RunGroupListTests), ("group changes", qa.RunGroupRwTests),
                     ("networks", qa.RunNetworkTests), ("filters", qa.RunFilterTests)):
      part(name, fn)
    part("a node", lambda: with_node(ordinary, exclude=master))
    part("any node", lambda: with_node(any_node))
    part("verify", run, qa.qa_cluster.AssertClusterVerify)
    templates()
    if qa.qa_rapi.Enabled():
      part("filters over the remote API", qa.RunTestIf, "filters", qa.qa_rapi.TestFilters)
    part("templates", qa.RunTestIf, "instance-add-restricted-by-disktemplates",
         qa.qa_instance.TestInstanceCreationRestrictedByDiskTemplates)
    part("os parameters", qa.RunTestIf, "instance-add-osparams", qa.qa_instance.TestInstanceAddOsParams)
    part("secret os parameters", qa.RunTestIf, "instance-add-osparams", qa.qa_instance.TestSecretOsParams)
    part("monitoring", qa.RunMonitoringTests)
    part("end", end)
  finally:
    qa.qa_utils.CloseMultiplexers()


main()
