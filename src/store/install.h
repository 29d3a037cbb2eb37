// The last step of every pull and import: convert, describe, put in place.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "store/store.h"
#include "tensor/dtype.h"

namespace mynah {

// Converts `source` into a folder of its own, writes source.json and renames the folder to the
// model's, replacing an older one. `model` brings name, licence, source and files; the rest is
// filled in. The caller holds the model's lock. What `check` refuses leaves nothing behind and
// replaces nothing.
Result<StoredModel> install_model(const Store& store, const std::string& source, StoredModel model,
                                  std::optional<DType> storage, StoreObserver& observer,
                                  const std::stop_token& stop, const ModelCheck& check = {});

}  // namespace mynah
