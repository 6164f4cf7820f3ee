# Filters `list` with Spark. The new lines go to the directory `new`.
#
#     spark-submit spark-job.py
#
# Run it in a directory that all machines see under the same name, with reduce-shards and
# reduce-commit in it. The file:// is needed where another file system, such as HDFS, is the
# default.
#
# If it fails, nothing is remembered: remove new and keys, and run it again.
#
# textFile replaces bytes that are not UTF-8, so different lines may become one, and ends lines at
# carriage returns. If that matters, use spark-tasks.py.
#
# Do not leave out checkCode: Spark would take what a failed command has printed for all of its
# output. Do not leave out env: commands would have no PATH.
import os, subprocess
from pyspark import SparkContext

sc = SparkContext()
each = dict(env=dict(os.environ), checkCode=True)
here = os.getcwd()
os.mkdir("keys")
(sc.textFile("file://" + here + "/list")
    .pipe("unseen shard 64", **each)
    .keyBy(lambda line: line.split("\t")[0])
    .partitionBy(4, int)                     # by number: 16 shards each
    .values()
    .pipe("bash " + here + "/reduce-shards", **each)
    .saveAsTextFile("file://" + here + "/new"))
sc.stop()
subprocess.run(["sh", "reduce-commit"], check=True)
