# Runs Ganeti's own command line programs, one command line after the other: each in a fork, because importing takes a second.
# From stdin: a JSON list of lists of words. To stdout: a JSON list of [exit code, stdout, stderr].
import importlib, json, os, sys, tempfile

sys.path.insert(0, sys.argv[1])


def run(words):
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    program = importlib.import_module("ganeti.client." + words[0].replace("-", "_"))
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = list(words)
        try:
            code = program.Main()
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read().decode())
    return [code, *texts]


json.dump([run(words) for words in json.load(sys.stdin)], sys.stdout)
