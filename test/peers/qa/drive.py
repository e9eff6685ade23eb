"""Runs Ganeti's QA and goes on after a failure: drive.py CONFIGURATION RESULTS

RESULTS gets one line of JSON for each test: its name, what it gave, what was said, and how long it took. Must run on the master.
"""
import importlib.util
import json
import os
import sys
import time

QA = os.path.join(os.environ["PYTHONPATH"], "qa")
sys.path.append(QA)

spec = importlib.util.spec_from_file_location("ganeti_qa", os.path.join(QA, "ganeti-qa.py"))
qa = importlib.util.module_from_spec(spec)
spec.loader.exec_module(qa)

config, results = sys.argv[1], open(sys.argv[2], "w", buffering=1)
seen = {}
place = []

# What they answer is needed by the tests that follow.
MAKERS = ("TestInstanceAdd", "TestRapiInstanceAdd", "TestRapiInstanceMultiAlloc", "TestInstanceExport")


# They list every field there is, which takes long, and find the same whenever it is.
ONCE = ("TestNodeList", "TestInstanceList", "TestJobList", "TestGroupList")


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


def run(fn, *args, **kwargs):
  started = time.time()
  name = getattr(fn, "__name__", repr(fn))
  if name in ONCE and name in seen:
    return None
  try:
    value = fn(*args, **kwargs)
  except Abandoned:
    raise
  except Exception as err:  # pylint: disable=broad-except
    record(name, "fails", "%s: %s" % (type(err).__name__, err), started)
    if name.startswith(MAKERS):
      raise Abandoned(name) from err
    return None
  record(name, "passes", "", started)
  return value


def part(name, fn, *args):
  """A part of the QA; what is left of one that is abandoned is not run."""
  try:
    fn(*args)
  except Abandoned as err:
    print("==== abandoned: %s" % err, flush=True)
  except Exception as err:  # pylint: disable=broad-except
    record(name, "fails", "%s: %s" % (type(err).__name__, err), time.time())


def templates():
  """Each kind of disk by itself, so that one that fails keeps no other from being tried."""
  every = list(qa.qa_instance.available_instance_tests)
  for one in every:
    qa.qa_instance.available_instance_tests[:] = [one]
    place.append(str(one[1]))
    part("instance tests", qa.RunInstanceTests)
    place.pop()


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
  # SSH on other ports is not tried here.
  qa.qa_iptables = sys.modules["qa.qa_iptables"]
  qa.qa_iptables.CleanRules = lambda nodes: None
  qa.qa_config.Load(config)
  master = qa.qa_config.GetMasterNode()
  qa.qa_utils.StartMultiplexer(master.primary)
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
