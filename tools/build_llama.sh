#!/bin/sh
# Builds llama.cpp, the peer of ./dev bench think and the oracle of models and samplers, from the source package that
# requirements-think.txt pins, and makes the files that it is measured with. Nothing of it is in the product or in ./dev test.
#
#   tools/build_llama.sh [FOLDER]     (default: .cache/llama)
#
# MYNAH_LLAMA_NATIVE=1 builds for this processor alone (AMX where it has that); else AVX-512 with VNNI and BF16.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.cache/llama}
mkdir -p "$folder/models"
if [ ! -d "$folder/src" ]; then
  python3 -m pip download --no-deps --require-hashes -q -d "$folder" -r tools/requirements-think.txt
  mkdir "$folder/src.partial"
  tar xzf "$folder"/llama_cpp_python-*.tar.gz -C "$folder/src.partial" --strip-components=1
  mv "$folder/src.partial" "$folder/src"
fi
if [ "${MYNAH_LLAMA_NATIVE:-}" = 1 ]; then
  sets="-DGGML_NATIVE=ON"
else
  sets="-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_BMI2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_AVX512=ON -DGGML_AVX512_VBMI=ON
        -DGGML_AVX512_VNNI=ON -DGGML_AVX512_BF16=ON"
fi
# shellcheck disable=SC2086: several words
cmake -S "$folder/src/vendor/llama.cpp" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release $sets -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_EXAMPLES=OFF >"$folder/configure.log"
ninja -C "$folder/build" llama-bench llama-batched-bench llama-quantize llama-completion
weights=.cache/weights/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
for type in Q4_0 Q4_K_M Q8_0; do
  to="$folder/models/SmolLM2-135M-Instruct.$type.gguf"
  [ -f "$to" ] || { "$folder/build/bin/llama-quantize" --allow-requantize "$weights" "$to.partial" "$type" && mv "$to.partial" "$to"; }
done
ln -sf "$(realpath "$weights")" "$folder/models/"
