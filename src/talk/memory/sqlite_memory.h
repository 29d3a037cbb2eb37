// The memory of this machine: a MemoryStore in a folder, SQLite's database.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "talk/memory/memory_store.h"

namespace mynah::talk {

struct MemoryOptions {
  std::string folder;
  // Told what somebody should know, in a sentence. Empty: nobody.
  std::function<void(const std::string&)> tell = {};
  std::function<int64_t()> now_ms = {};  // since 1970; empty: the system's
  int64_t most_bytes = 0;                // of the database; 0: as many as the disk
  // How long another process that reads or writes is waited for.
  std::chrono::milliseconds patience = std::chrono::seconds(5);
};

// Opens it, made where there is none, and finishes what was to be forgotten when a process ended.
// As open_memory_database() refuses and mends.
Result<std::unique_ptr<MemoryStore>> open_sqlite_memory(MemoryOptions options);

}  // namespace mynah::talk
