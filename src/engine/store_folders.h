// Where the store is and how the network is reached, by the environment.
#pragma once

#include "base/environment.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::engine {

// MYNAH_HOME, else the data folder; the cache folder.
[[nodiscard]] StoreFolders store_folders(const Environment& environment);

// http_proxy, https_proxy, all_proxy, no_proxy, in lower or upper case.
[[nodiscard]] Proxies proxies(const Environment& environment);

}  // namespace mynah::engine
