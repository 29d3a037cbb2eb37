// Whether a model could be opened, of a process that has none open: without opening one.
#pragma once

#include <string>

#include "base/result.h"
#include "place/placer.h"

namespace mynah::engine {

// A worker is started, answers, and ends; and the model's file ("": it is built in) is one that
// hears and whose weights fit into what memory is free. Device, OutOfMemory or what reading the
// file fails with.
[[nodiscard]] Status check_could_open(const place::Placer& placer, const std::string& model_path);

}  // namespace mynah::engine
