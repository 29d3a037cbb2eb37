#include "tensor/watched_backend.h"

namespace mynah {

BufferRef WatchedBackend::from_host(std::span<const std::byte> bytes) {
  before("from_host");
  return backend_.from_host(bytes);
}

void WatchedBackend::upload(const void* source, const Tensor& out) {
  before("upload");
  backend_.upload(source, out);
}

void WatchedBackend::download(const Tensor& x, void* destination) {
  before("download");
  backend_.download(x, destination);
}

void WatchedBackend::copy(const Tensor& x, const Tensor& out) {
  before("copy");
  backend_.copy(x, out);
  after("copy", {out});
}

void WatchedBackend::synchronize() {
  before("synchronize");
  backend_.synchronize();
}

LinearWeight WatchedBackend::pack_linear(const Tensor& w, DType storage) {
  before("pack_linear");
  return backend_.pack_linear(w, storage);
}

LinearWeight WatchedBackend::pack_conv1d(const Tensor& w, DType storage, int64_t groups) {
  before("pack_conv1d");
  return backend_.pack_conv1d(w, storage, groups);
}

KeysValues WatchedBackend::pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                            Precision precision) {
  before("pack_keys_values");
  return backend_.pack_keys_values(k, v, heads, precision);
}

#define MYNAH_OPERATION(name, parameters, arguments, ...) \
  void WatchedBackend::name parameters {                  \
    before(#name);                                        \
    backend_.name arguments;                              \
    after(#name, {__VA_ARGS__});                          \
  }
#include "tensor/operations.inc"

}  // namespace mynah
