# Prints Ganeti's own KVM code's view of a running guest, as JSON. Arguments: the folder of Ganeti's programs, `look` or `stop`, and
# the guest's name.
import json, os, sys

sys.path.insert(0, sys.argv[1])
from ganeti.hypervisor.hv_kvm import KVMHypervisor

action, name = sys.argv[2:]
instance = type("Instance", (), {"name": name, "hvparams": {"acpi": True}})
kvm = KVMHypervisor()


def look():
    _, pid, alive = kvm._InstancePidAlive(name)
    runtime = kvm._LoadKVMRuntime(instance)
    command, nics, hvparams, disks = runtime
    return {
        "list": kvm.ListInstances(),
        "alive": alive,
        "pid": pid,
        "info": kvm.GetInstanceInfo(name),
        "all": kvm.GetAllInstancesInfo(),
        "monitor": kvm._CallMonitorCommand(name, "info name").stdout,
        "program": command[0],
        "nics": [nic.ToDict() for nic in nics],
        "params": hvparams,
        "disks": [[disk.ToDict(), link, uri] for disk, link, uri in disks],
        "slots": {bus: slots.to01() for bus, slots in kvm._GetBusSlots(hvparams, runtime).items()},
    }


def stop():
    kvm.StopInstance(instance, force=True)
    while kvm._InstancePidAlive(name)[2]:
        pass
    kvm.CleanupInstance(name)
    folders = ["pid", "ctrl", "conf", "nic"]
    left = [entry for folder in folders for entry in os.listdir(os.path.join(kvm._ROOT_DIR, folder))]
    return {"list": kvm.ListInstances(), "alive": False, "left": left}


json.dump({"look": look, "stop": stop}[action](), sys.stdout)
