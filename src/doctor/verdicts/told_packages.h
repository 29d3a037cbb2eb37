// Environments of which somebody told the packages alone: names and versions, no files.
#pragma once

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// Gives each environment the frameworks that its packages are known to bring, where the facts tell
// of none of that name: torch, onnxruntime, ctranslate2, llama-cpp-python. What a scan wrote down
// has them all and stays as it is. A version of which nothing is known, a build of conda, of
// another index or for another processor gives a framework whose device code is unknown. Names of
// packages become as PEP 503 normalises them; the environments of a Windows machine are Windows's.
void add_told_frameworks(Facts& facts, const Knowledge& knowledge);

}  // namespace mynah::doctor
