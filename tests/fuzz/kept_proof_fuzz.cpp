// Proofs, references and distrust as they are kept in the cache: the first byte says which; the
// rest are a file, and the fields of one whose checksum fits.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "place/kinds/kinds.h"
#include "place/proofs/kept_file.h"
#include "place/proofs/kept_types.h"
#include "place/wire/possible.h"

namespace mynah::place {

namespace {

const std::string kKey = "cuda:0\nRTX";

void use(uint8_t which, std::span<const std::byte> file) {
  WakeState wake;
  Proof proof;
  Distrust distrust;
  int64_t number = 0;
  Reference reference;
  switch (which % 3) {
    case 0:
      if (read_kept(file, kProofKind, kKey, wake, proof)) {
        static_cast<void>(WakeState{.boot_id = "x", .suspended_ms = 5}.awake_since(wake));
        static_cast<void>(is_possible(proof.measurements, kSttGroup));
        MYNAH_CHECK(kept_bytes(kProofKind, kKey, wake, proof).size() == file.size(),
                    "is kept in another length");
      }
      break;
    case 1:
      if (read_kept(file, kDistrustKind, kKey, distrust, number) && distrust.last_at >= 0 &&
          distrust.last_at < int64_t{1} << 60) {
        MYNAH_CHECK(distrust.again_at() > distrust.last_at, "a pause that is none");
      }
      break;
    default:
      if (read_kept(file, kReferenceKind, kKey, reference) && is_possible(reference, kSttGroup)) {
        for (const Stage stage : stages_of(kSttGroup)) {
          static_cast<void>(judge(stage, reference.exact, reference));
        }
      }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  // Where a file is mapped is aligned.
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1),
                                     reinterpret_cast<const std::byte*>(data + size));
  use(data[0], bytes);
  // With the head that fits: else nothing gets past the checksum and the key.
  constexpr std::array kKinds = {kProofKind, kDistrustKind, kReferenceKind};
  WireWriter body;
  body(std::string(kKinds.at(data[0] % 3)), kKey);
  std::vector<std::byte> file(body.bytes().begin(), body.bytes().end());
  file.insert(file.end(), bytes.begin(), bytes.end());
  const std::string checksum = sha256_hex(file);
  const auto head = std::as_bytes(std::span(checksum));
  file.insert(file.begin(), head.begin(), head.end());
  use(data[0], file);
  return 0;
}

}  // namespace mynah::place
