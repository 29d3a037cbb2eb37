// The memory's database: its tables, and what is saved of one that is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace mynah::talk {

// Opens the database of a folder, made where there is none. One that is damaged is moved aside,
// what can be read of it is taken over, and `tell` is told so. Unsupported where a newer mynah
// wrote it, InvalidInput where it is another program's.
Result<Database> open_memory_database(const std::string& folder,
                                      const std::function<void(const std::string&)>& tell);

// Copies of databases that were damaged and moved aside: nothing of them can be forgotten apart
// from the rest, so that they are removed with the first thing that is.
Status remove_damaged_copies(const std::string& folder);

}  // namespace mynah::talk
