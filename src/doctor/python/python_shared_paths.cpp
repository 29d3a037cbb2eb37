#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <openssl/sha.h>

#include "base/mapped_file.h"
#include "doctor/python/python_packages.h"
#include "doctor/python/python_text.h"

namespace mynah::doctor {
namespace {

constexpr uint64_t kMostRecordBytes = 32 << 20;
constexpr size_t kMostClaims = 400'000;  // of packages that share a folder, and such folders
constexpr uint64_t kMostHashedBytes = 64 << 20;
constexpr std::string_view kSha256 = "sha256=";

struct Claim {
  size_t package = 0;
  std::string_view hash;
  std::optional<uint64_t> bytes;
};

std::string_view as_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// "onnxruntime" of "onnxruntime/capi/__init__.py".
std::string_view outermost(std::string_view path) {
  return path.substr(0, path.find('/'));
}

// What a package alone has, or what nobody imports.
bool may_be_shared(const RecordEntry& entry) {
  return !entry.hash.empty() && outermost(entry.path).find(".dist-info") == std::string::npos &&
         entry.path.find("__pycache__/") == std::string_view::npos;
}

// As RECORD has it: base64 of RFC 4648, section 5, without '='.
std::string record_hash(std::span<const std::byte> bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH + 1> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text(kSha256);
  for (size_t i = 0; i < digest.size(); i += 3) {
    const uint32_t bits =
        (uint32_t{digest[i]} << 16U) | (uint32_t{digest[i + 1]} << 8U) | uint32_t{digest[i + 2]};
    for (unsigned shift = 24; shift > 0; shift -= 6) {
      text += kDigits[(bits >> (shift - 6)) & 63U];
    }
  }
  text.pop_back();  // 32 bytes are 43 digits
  return text;
}

// Who claims which path of one folder of packages.
class Claims {
 public:
  Claims(Tree& tree, const std::vector<InstalledPackage>& packages)
      : tree_(tree), packages_(packages) {
    for (const InstalledPackage& installed : packages) {
      records_.push_back(installed.record.empty() ? nullptr
                                                  : tree.map(installed.record, kMostRecordBytes));
    }
  }

  // Most packages are alone in their folders: their paths need not be kept.
  void find() {
    std::map<std::string, size_t, std::less<>> first_owner;
    std::set<std::string, std::less<>> shared;
    for (size_t i = 0; i < records_.size(); ++i) {
      std::string last;
      for_each(i, [&](const RecordEntry& entry) {
        const std::string_view folder = outermost(entry.path);
        if (folder == last) {
          return;
        }
        last = folder;
        const auto owner = first_owner.find(folder);
        if (owner != first_owner.end() && owner->second != i) {
          shared.emplace(folder);
        } else if (first_owner.size() < kMostClaims) {
          first_owner.try_emplace(std::string(folder), i);
        }
      });
    }
    if (shared.empty()) {
      return;
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      for_each(i, [&](const RecordEntry& entry) {
        if (shared.contains(outermost(entry.path)) && claims_ < kMostClaims) {
          ++claims_;
          auto& claims = paths_[kept(entry.path, i)];
          claims.push_back({i, kept(entry.hash, i), entry.bytes});
        }
      });
    }
    if (claims_ == kMostClaims) {
      tree_.skip(packages_.front().package.folder, "too many files to look for shared ones");
    }
  }

  [[nodiscard]] std::vector<SharedPath> shared(const std::string& site) {
    struct Group {
      std::string_view path;
      const std::vector<Claim>* claims = nullptr;
      uint64_t bytes = 0;
      uint64_t count = 0;
    };

    std::map<std::vector<std::string>, Group> groups;
    for (const auto& [path, claims] : paths_) {
      if (std::ranges::all_of(
              claims, [&](const Claim& claim) { return claim.hash == claims.front().hash; })) {
        continue;  // alike, or nobody else's
      }
      uint64_t bytes = 0;
      for (const Claim& claim : claims) {
        bytes = std::max(bytes, claim.bytes.value_or(0));
      }
      Group& group = groups[owners_of(claims)];
      ++group.count;
      if (group.claims == nullptr || bytes > group.bytes ||
          (bytes == group.bytes && path < group.path)) {
        group = {path, &claims, bytes, group.count};
      }
    }
    std::vector<SharedPath> result;
    for (const auto& [owners, group] : groups) {
      SharedPath& shared_path = result.emplace_back();
      shared_path.path = path_in(site, group.path);
      shared_path.owners = owners;
      shared_path.winner = winner(shared_path.path, *group.claims);
      shared_path.others = group.count - 1;
    }
    return result;
  }

 private:
  template <class Show>
  void for_each(size_t package, const Show& show) const {
    if (records_[package] != nullptr) {
      for_each_record(as_text(*records_[package]), [&](const RecordEntry& entry) {
        if (may_be_shared(entry)) {
          show(entry);
        }
      });
    }
  }

  // Views into the file live as long as this; those of fields in quotes do not.
  std::string_view kept(std::string_view text, size_t package) {
    const std::string_view file = as_text(*records_[package]);
    const bool inside = text.data() >= file.data() && text.data() < file.data() + file.size();
    return inside ? text : std::string_view(copies_.emplace_back(text));
  }

  [[nodiscard]] std::string owner(size_t package) const {
    const Package& self = packages_[package].package;
    const auto of_name = std::ranges::count_if(
        packages_, [&](const InstalledPackage& other) { return other.package.name == self.name; });
    return of_name > 1 ? self.name + " " + self.version : self.name;
  }

  [[nodiscard]] std::vector<std::string> owners_of(const std::vector<Claim>& claims) const {
    std::vector<std::string> owners;
    owners.reserve(claims.size());
    for (const Claim& claim : claims) {
      owners.push_back(owner(claim.package));
    }
    std::ranges::sort(owners);
    const auto repeated = std::ranges::unique(owners);
    owners.erase(repeated.begin(), repeated.end());
    return owners;
  }

  [[nodiscard]] std::string winner(const std::string& path, const std::vector<Claim>& claims) {
    const auto real = tree_.real(path);
    const auto file =
        real ? MappedFile::open(tree_.outside(*real)) : fail(ErrorCode::NotFound, "not there");
    if (!file) {
      return "";
    }
    const uint64_t size = (*file)->bytes().size();
    std::vector<const Claim*> fitting;
    for (const Claim& claim : claims) {
      if (claim.bytes.value_or(size) == size) {
        fitting.push_back(&claim);
      }
    }
    if (size > kMostHashedBytes) {
      return fitting.size() == 1 && fitting.front()->bytes ? owner(fitting.front()->package) : "";
    }
    const std::string hash = record_hash((*file)->bytes());
    // The last of several that brought the same: they are owners of one content.
    const auto found = std::ranges::find(fitting, std::string_view(hash),
                                         [](const Claim* claim) { return claim->hash; });
    return found == fitting.end() ? "" : owner((*found)->package);
  }

  Tree& tree_;
  const std::vector<InstalledPackage>& packages_;
  std::vector<std::shared_ptr<const MappedFile>> records_;
  std::deque<std::string> copies_;
  size_t claims_ = 0;
  std::unordered_map<std::string_view, std::vector<Claim>> paths_;
};

}  // namespace

std::vector<SharedPath> find_shared_paths(Tree& tree, const std::string& site,
                                          const std::vector<InstalledPackage>& packages) {
  Claims claims(tree, packages);
  claims.find();
  return claims.shared(site);
}

}  // namespace mynah::doctor
