{
  "targets": [{
    "target_name": "recycle_fork",
    "sources": ["fork.c", "duplicates.c", "reads.c", "queue.c", "hook.c", "collections.c"],
    "cflags": ["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"],
    "ldflags": ["-s"]
  }]
}
