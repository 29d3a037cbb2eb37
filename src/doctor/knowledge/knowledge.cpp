#include "doctor/knowledge/knowledge.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/package_name.h"

namespace mynah::doctor {

namespace {

// Words of a card's name that decide nothing: makers, forms, memory, housings.
constexpr auto kIdleWords = std::to_array<std::string_view>(
    {"nvidia",   "geforce", "tesla", "gpu",   "laptop", "mobile", "generation", "gen",
     "graphics", "card",    "pcie",  "pci",   "sxm",    "sxm2",   "sxm3",       "sxm4",
     "sxm5",     "nvl",     "hbm2",  "hbm2e", "hbm3",   "hbm3e",  "lhr",        "workstation",
     "server",   "edition", "with",  "max",   "q",      "design", "oem",        "tm"});

bool is_memory(std::string_view word) {
  const size_t digits = word.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 &&
         (word.substr(digits) == "gb" || word.substr(digits) == "g");
}

// Whether a version of which only the epoch and the release are left is in a range.
bool holds(const VersionRange& range, const Version& base) {
  return base >= range.from && (!range.below || base < *range.below);
}

// The words of a card's name that tell it from others, in small letters and without blanks, as
// people write it so and so: "rtx5090" of "GeForce RTX 5090" and of "rtx-5090".
std::string key_of(std::string_view name) {
  std::string key;
  std::string word;
  size_t number = 0;  // digits of the last word of the key, where it has no others
  bool over = false;
  const auto finish = [&] {
    // Behind the name of a card stands that of its slice.
    over |= word == "mig";
    if (over || word.empty()) {
      word.clear();
      return;
    }
    if (word == "gb" || word == "gib") {
      key.resize(key.size() - number);  // "24 GB"
      number = 0;
    } else if (!is_memory(word) && std::ranges::find(kIdleWords, word) == kIdleWords.end()) {
      key += word;
      number = std::ranges::all_of(word, is_digit) ? word.size() : 0;
    }
    word.clear();
  };
  for (const char c : name) {
    if (const char small = small_letter(c); is_small_letter(small) || is_digit(small)) {
      word += small;
    } else {
      finish();
    }
  }
  finish();
  return key;
}

template <class T, class Value>
const T* found_by(const std::vector<T>& facts, std::string T::* member, const Value& value) {
  const auto found = std::ranges::find(facts, value, member);
  return found == facts.end() ? nullptr : &*found;
}

template <class T, class Match>
const T* first_where(const std::vector<T>& facts, const Match& match) {
  const auto found = std::ranges::find_if(facts, match);
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

bool VersionRange::contains(const Version& version) const {
  return holds(*this, version.base());
}

const TorchVariant* TorchRelease::variant(std::string_view cuda) const {
  return found_by(variants, &TorchVariant::cuda, cuda);
}

void Knowledge::index_facts() {
  products_by_words.clear();
  packages_by_need.clear();
  for (size_t i = 0; i < products.size(); ++i) {
    products_by_words.try_emplace(key_of(products[i].name), i);
  }
  for (size_t i = 0; i < packages.size(); ++i) {
    for (const std::string& text : packages[i].requires_) {
      // A name ends where anything begins that no name has (PEP 508).
      const size_t end = text.find_first_of(" [<>=!~;@(");
      std::vector<size_t>& all = packages_by_need[normal_name(text.substr(0, end))];
      if (all.empty() || all.back() != i) {
        all.push_back(i);
      }
    }
  }
}

const Product* Knowledge::card(std::string_view name) const {
  const auto found = products_by_words.find(key_of(name));
  return found == products_by_words.end() ? nullptr : &products[found->second];
}

const Architecture* Knowledge::architecture(std::string_view compute_capability) const {
  return found_by(architectures, &Architecture::compute_capability, compute_capability);
}

const DriverBranch* Knowledge::branch(std::string_view driver) const {
  int major = 0;
  std::from_chars(driver.data(), driver.data() + driver.size(), major);
  const auto above = std::ranges::upper_bound(branches, major, {}, &DriverBranch::branch);
  return above == branches.begin() ? nullptr : &*std::prev(above);
}

const PtxVersion* Knowledge::ptx(std::string_view isa) const {
  return found_by(ptx_versions, &PtxVersion::isa, isa);
}

const DriverFloor* Knowledge::floor(const Version& cuda) const {
  return first_where(floors, [&](const DriverFloor& f) { return f.cuda.contains(cuda); });
}

const CudaToolkit* Knowledge::toolkit(std::string_view cuda) const {
  if (const CudaToolkit* exact = found_by(toolkits, &CudaToolkit::cuda, cuda)) {
    return exact;
  }
  const auto wanted = Version::parse(cuda);
  const CudaToolkit* near = nullptr;
  for (const CudaToolkit& toolkit : toolkits) {
    const auto listed = Version::parse(toolkit.cuda);
    if (wanted && listed && listed->release_at(0) == wanted->release_at(0) &&
        listed->release_at(1) == wanted->release_at(1)) {
      near = &toolkit;
    }
  }
  return near;
}

const TorchRelease* Knowledge::torch_release(const Version& version) const {
  return found_by(torch, &TorchRelease::torch,
                  fmt::format("{}.{}", version.release_at(0), version.release_at(1)));
}

const TorchVariant* Knowledge::torch_variant(const Version& version) const {
  const TorchRelease* release = torch_release(version);
  if (release == nullptr) {
    return nullptr;
  }
  return release->variant(version.local.empty() ? release->default_variant.value
                                                : version.local_text());
}

const OnnxRuntimeRelease* Knowledge::onnxruntime_release(const Version& version) const {
  return first_where(onnxruntime, [&](const auto& r) { return r.versions.contains(version); });
}

const CTranslate2Release* Knowledge::ctranslate2_release(const Version& version) const {
  return first_where(ctranslate2, [&](const auto& r) { return r.versions.contains(version); });
}

const PackageNeeds* Knowledge::package(std::string_view name, const Version& version) const {
  // A release that repeats another may ask for another torch: 0.0.28.post2 of xformers does.
  Version final = version.base();  // once: there are hundreds
  final.post = version.post;
  return first_where(packages, [&](const PackageNeeds& p) {
    return p.package == name && holds(p.versions, final);
  });
}

std::vector<const PackageNeeds*> Knowledge::asking_for(std::string_view package) const {
  std::vector<const PackageNeeds*> found;
  if (const auto all = packages_by_need.find(package); all != packages_by_need.end()) {
    found.reserve(all->second.size());
    for (const size_t i : all->second) {
      found.push_back(&packages[i]);
    }
  }
  return found;
}

const PackageReleases* Knowledge::releases_of(std::string_view package) const {
  return found_by(releases, &PackageReleases::package, package);
}

Listing Knowledge::listing_of(std::string_view package, const Version& version) const {
  const PackageReleases* known = releases_of(package);
  if (known == nullptr || version.is_prerelease() || version.post) {
    return Listing::NotKnown;
  }
  const Version wanted = version.public_part();
  if (std::ranges::find(known->releases, wanted) != known->releases.end()) {
    return Listing::There;
  }
  return wanted > known->releases.front()  ? Listing::Newer
         : wanted < known->releases.back() ? Listing::NotKnown
                                           : Listing::Missing;
}

const WheelCode* Knowledge::wheel(std::string_view package, const Version& version,
                                  System system) const {
  return first_where(wheels, [&](const WheelCode& wheel) {
    return wheel.package == package && wheel.system == system && wheel.versions.contains(version);
  });
}

const ModelMemory* Knowledge::model(std::string_view name, std::string_view storage) const {
  return first_where(models, [&](const ModelMemory& model) {
    return model.name == name && (storage.empty() || model.storage == storage);
  });
}

std::vector<const Library*> Knowledge::libraries_named(std::string_view file) const {
  const std::string name = small_letters(file);
  std::vector<const Library*> found;
  for (const Library& library : libraries) {
    if (small_letters(library.soname) == name ||
        (!library.dll.empty() && small_letters(library.dll) == name)) {
      found.push_back(&library);
    }
  }
  return found;
}

const Library* Knowledge::library(std::string_view name, int cuda_major) const {
  return first_where(libraries, [&](const Library& library) {
    return library.name == name && library.cuda_major == cuda_major;
  });
}

const Opener* Knowledge::opener(std::string_view soname) const {
  return found_by(openers, &Opener::library, soname);
}

const KnownError* Knowledge::error(std::string_view id) const {
  return found_by(errors, &KnownError::id, id);
}

const Note* Knowledge::note(std::string_view id) const {
  return found_by(notes, &Note::id, id);
}

}  // namespace mynah::doctor
