# Runs task for shards 1 to 4 on Dask.
#
#     python3 dask-tasks.py                                    on this machine
#     python3 dask-tasks.py tcp://scheduler:8786               on several
#
# On several machines, a shard runs on a worker that names it, on the machine that has its filter.
# The directory must have the same name on all of them, and hold task:
#
#     dask scheduler                                           on one machine
#     dask worker tcp://scheduler:8786 --resources shard.1=1   on the machine of shard 1, and so on
#
# If the filters are on a network file system, let each worker name all shards (--resources
# "shard.1=1 shard.2=1 shard.3=1 shard.4=1"), run shared-create first and shared-commit last, both
# on the same machine, and write shared-task for task below.
#
# A shard waits until a worker that names it is there. If a worker was killed or cut off, Dask
# runs its shard again while the first attempt may go on; the loop below waits for that, which
# costs no retry. A shard fails after four failed attempts, or when four workers have died with
# it: run this again.
#
# Dask does not tell when an attempt that it gave up has ended, so do not remove keys.*: make a
# new directory for each list, with links to the filters in it.
import os, subprocess, sys, time
from dask.distributed import Client

def shard(i, directory):
    while True:
        run = subprocess.run(["sh", "task", str(i)], cwd=directory)
        if run.returncode != 75:
            return run.check_returncode()
        time.sleep(5)                # an earlier attempt is still running

if __name__ == "__main__":
    client = Client(*sys.argv[1:])
    many = len(sys.argv) > 1         # machines: a shard runs where its filter is
    client.gather([
        client.submit(shard, i, os.getcwd(), retries=3, pure=False,
                      resources={f"shard.{i}": 1} if many else None)
        for i in range(1, 5)])
