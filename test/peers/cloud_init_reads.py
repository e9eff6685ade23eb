"""What cloud-init's own data source makes of the seed in a folder: FOLDER/seed/nocloud. Prints it as JSON."""
import json
import sys

from cloudinit import distros, helpers
from cloudinit.sources import DataSourceNoCloud
from cloudinit.net import network_state

folder = sys.argv[1]
# No disk of this machine is looked at.
config = {"datasource": {"NoCloud": {"fs_label": None}}}
paths = helpers.Paths({"cloud_dir": folder, "run_dir": folder})
distro = distros.fetch("debian")("debian", {}, paths)
source = DataSourceNoCloud.DataSourceNoCloud(config, distro, paths)
found = source.get_data()
user_data = source.get_userdata_raw()
interfaces = network_state.parse_net_config_data(source.network_config, skip_broken=False)
print(
    json.dumps(
        {
            "found": found,
            "instance_id": source.get_instance_id(),
            "hostname": source.get_hostname().hostname,
            "fqdn": source.get_hostname(fqdn=True).hostname,
            "keys": source.get_public_ssh_keys(),
            "user_data": user_data.decode() if isinstance(user_data, bytes) else user_data,
            "interfaces": {
                one["mac_address"]: [
                    {key: subnet[key] for key in ("type", "address", "prefix", "gateway", "dns_nameservers") if key in subnet}
                    for subnet in one["subnets"]
                ]
                for one in interfaces.iter_interfaces()
            },
        }
    )
)
