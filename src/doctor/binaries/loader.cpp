#include "doctor/binaries/loader.h"

#include <utility>

#include "base/mapped_file.h"
#include "doctor/binaries/loader_elf.h"
#include "doctor/binaries/loader_paths.h"
#include "doctor/binaries/loader_pe.h"
#include "formats/ld_cache.h"

namespace mynah::doctor {

LoaderView linux_view(std::string root, std::string library_path) {
  LoaderView view;
  view.root = std::move(root);
  view.library_path = std::move(library_path);
  view.default_folders = {"/lib/x86_64-linux-gnu",
                          "/usr/lib/x86_64-linux-gnu",
                          "/lib/aarch64-linux-gnu",
                          "/usr/lib/aarch64-linux-gnu",
                          "/lib64",
                          "/usr/lib64",
                          "/lib",
                          "/usr/lib"};
  const auto cache_path = real_path(view.root, "/etc/ld.so.cache");
  const auto file = cache_path ? MappedFile::open(view.root + *cache_path)
                               : fail(ErrorCode::NotFound, "no /etc/ld.so.cache");
  if (!file) {
    return view;
  }
  if (const auto entries = read_ld_cache((*file)->bytes(), (*file)->path())) {
    // Files of another machine are passed by when they are opened.
    for (const LdCacheEntry& entry : *entries) {
      if (!entry.for_wider) {
        view.cache[std::string(entry.name)].emplace_back(entry.path);
      }
    }
  }
  return view;
}

Loader::Loader(LoaderView view) : view_(std::move(view)) {}

Loader::Library* Loader::library(const std::string& path) {
  const auto [slot, is_new] = libraries_.try_emplace(path);
  if (is_new) {
    if (const auto file = MappedFile::open(outside(path))) {
      if (auto elf = ElfFile::parse(*file)) {
        slot->second = std::make_unique<Library>(Library{std::move(*elf), {}, {}, {}});
      }
    }
  }
  return slot->second.get();
}

Result<LoaderAnswer> Loader::ask(const LoaderQuestion& question) {
  if (view_.system == System::Windows) {
    return PeQuestion(*this, question).answer();
  }
  return ElfQuestion(*this, question).answer();
}

}  // namespace mynah::doctor
