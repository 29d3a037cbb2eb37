// source.json of a model's folder, which users may edit and disks may damage.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/store.h"
#include "temporary_folder.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::TemporaryFolder folder;
  test::write_file(folder / "source.json", {reinterpret_cast<const char*>(data), size});
  auto model = read_source_json(folder.path());
  if (!model) {
    return 0;
  }
  MYNAH_CHECK(is_model_name(model->name), "a name leads out of the store");
  for (const StoredFile& file : model->set) {
    MYNAH_CHECK(is_model_name(file.name), "a file's name leads out of the model's folder");
  }
  // What was read is written and read as the same.
  MYNAH_CHECK(write_source_json(*model).has_value(), "cannot be written");
  const auto again = read_source_json(folder.path());
  MYNAH_CHECK(again && again->name == model->name && again->sha256 == model->sha256 &&
                  again->size == model->size && again->files.size() == model->files.size() &&
                  again->set.size() == model->set.size(),
              "reads differently when written");
  return 0;
}

}  // namespace mynah
