# Runs task for shards 1 to 4 on Spark, for lines of any bytes.
#
#     unseen shard 4 --files 'shard.%d' list
#     spark-submit spark-tasks.py
#
# Spark chooses the machine. So run it on one machine; or, if the filters are on a network file
# system, run shared-create first and shared-commit last, both on the same machine, and write
# shared-task for task below.
#
# Do not use spark.speculation: second attempts fail with exit status 75, and after four failures
# Spark gives up the job.
import os
from pyspark import SparkContext

sc = SparkContext()
task = "sh -c 'cd {} && xargs -n 1 sh task'".format(os.getcwd())
sc.parallelize(range(1, 5), 4).pipe(task, dict(os.environ), checkCode=True).count()
