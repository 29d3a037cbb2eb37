// The fields of what is kept in files (place/proofs/kept_file.h), and their kinds.
#pragma once

#include <string_view>

#include "place/proofs/proof_store.h"
#include "place/proofs/reference.h"
#include "place/wire/wire_types.h"

namespace mynah::place {

inline constexpr std::string_view kProofKind = "mynah proof 3";          // WakeState, Proof
inline constexpr std::string_view kDistrustKind = "mynah distrust 2";    // Distrust, number
inline constexpr std::string_view kReferenceKind = "mynah reference 2";  // Reference

template <class Archive>
void wire(Archive& a, WakeState& v) {
  a(v.boot_id, v.suspended_ms);
}

template <class Archive>
void wire(Archive& a, Proof& v) {
  a(v.measurements, v.made_at, v.last_failure);
}

template <class Archive>
void wire(Archive& a, Distrust& v) {
  a(v.failures, v.last_at, v.reason, v.trusted_at);
}

template <class Archive>
void wire(Archive& a, Reference& v) {
  a(v.exact, v.cpu, v.cpu_exact, v.error_bound);
}

}  // namespace mynah::place
