{
  "targets": [
    {
      "target_name": "native",
      "sources": [
        "src/addon.cc",
        "src/cold-reads.cc",
        "src/commands.cc",
        "src/connection-table.cc",
        "src/crc32c.cc",
        "src/digester.cc",
        "src/file-jobs.cc",
        "src/file-probe.cc",
        "src/files.cc",
        "src/lent-pages.cc",
        "src/lifetime.cc",
        "src/pipe-pool.cc",
        "src/reactor.cc",
        "src/reactor-object.cc",
        "src/receive.cc",
        "src/relay.cc",
        "src/sockets.cc",
        "src/thread-pool.cc",
        "src/transmit.cc",
        "src/write-queue.cc"
      ],
      "defines": ["NAPI_VERSION=9", "OPENSSL_SUPPRESS_DEPRECATED", "_GNU_SOURCE", "_GLIBCXX_ASSERTIONS"],
      "cflags": ["-Wall", "-Wextra", "-Werror", "-O2", "-g", "-fvisibility=hidden"],
      "cflags!": ["-O3"],
      "cflags_cc": ["-std=c++17"],
      "cflags_cc!": ["-std=gnu++20", "-std=gnu++17"]
    }
  ]
}
