# Ganeti's own check of configurations: loads each file as its master does, which fills in what it lacks, and says what is wrong with it.
# Arguments: the folder of Ganeti's programs, then files, which are written anew. To stdout: a JSON list of lists of sentences.
import json, os, sys

sys.path.insert(0, sys.argv[1])
from ganeti import config


class Accounts:
  confd_gid = os.getgid()


def verify(file):
  return config.ConfigWriter(cfg_file=file, offline=True, accept_foreign=True, _getents=Accounts).VerifyConfig()


json.dump([verify(file) for file in sys.argv[2:]], sys.stdout)
