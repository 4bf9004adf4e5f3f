{
  "targets": [{
    "target_name": "recycle_interrupt",
    "sources": ["interrupt.c"],
    "cflags": ["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"],
    "ldflags": ["-s"],
    "libraries": ["-lpthread"]
  }]
}
