// The C contract between Berth and a library that AOTInductor compiled: what it
// exports, as torch 2.13 declares it. Includes nothing of the project.
//
// Names and types are torch's. Every function returns 0 on success; the text of
// a failure is AOTInductorGetLastError's, for the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

struct AtenTensorOpaque;
using AtenTensorHandle = AtenTensorOpaque*;

namespace berth::model::abi {

struct ContainerOpaque;
using ContainerHandle = ContainerOpaque*;
struct StreamOpaque;
using StreamHandle = StreamOpaque*;
struct ProxyExecutorOpaque;
using ProxyExecutorHandle = ProxyExecutorOpaque*;
using Error = std::int32_t;

inline constexpr Error kSuccess = 0;

struct ConstantMapEntry {
  const char* name;
  AtenTensorHandle handle;
};

// `device` is "cpu". `cubin_directory` may be null.
using CreateWithDevice = Error(ContainerHandle* container, std::size_t models,
                               const char* device, const char* cubin_directory);
using Delete = Error(ContainerHandle container);

// Steals the input handles and nulls their slots as it does so; a failure
// before that leaves them to the caller. Output handles go to the caller.
using Run = Error(ContainerHandle container, AtenTensorHandle* inputs,
                  std::size_t input_count, AtenTensorHandle* outputs,
                  std::size_t output_count, StreamHandle stream,
                  ProxyExecutorHandle proxy_executor);

using GetCount = Error(ContainerHandle container, std::size_t* count);
using GetName = Error(ContainerHandle container, std::size_t i,
                      const char** name);
using GetConstantDataSize = Error(ContainerHandle container, std::size_t i,
                                  std::size_t* size_bytes);
using GetConstantDtype = Error(ContainerHandle container, std::size_t i,
                               std::int32_t* dtype);
using GetConstantFromFolded = Error(ContainerHandle container, std::size_t i,
                                    bool* from_folded);

// The constants that the container holds now, without those that it folds
// itself, in index order. The array is the container's, until the next call.
// Names are those of the model's source, of which two may be equal.
using ExtractConstantsMapEntries = Error(ContainerHandle container,
                                         const ConstantMapEntry** entries,
                                         std::size_t* entry_count,
                                         bool use_inactive);

// Copies all constants out of `blob`, in index order, each
// GetConstantDataSize() bytes long. Does nothing in a library that was built
// with its constants inside.
using UpdateConstantsFromBlob = Error(ContainerHandle container,
                                      const std::uint8_t* blob);

// Makes the container use the caller's tensors, which it neither copies nor
// frees. Pairs go by the constants' own names (GetConstantName). torch 2.13
// makes a handle of its own for each, and never frees it.
using UpdateUserManagedPairs = Error(ContainerHandle container,
                                     const ConstantMapEntry* pairs,
                                     std::size_t pair_count, bool use_inactive,
                                     bool validate_full_update);

// A container has two sets of constants, of which runs use the active one.
// Freeing the inactive set frees its memory, and keeps its handles.
using SwapConstantBuffer = Error(ContainerHandle container);
using FreeInactiveConstantBuffer = Error(ContainerHandle container);

// How inputs and outputs nest in the exported module's (berth/signature.h).
using GetCallSpec = Error(ContainerHandle container, const char** inputs,
                          const char** outputs);

using GetLastError = Error(const char** text);

inline constexpr const char* kCreateWithDevice =
    "AOTInductorModelContainerCreateWithDevice";
inline constexpr const char* kDelete = "AOTInductorModelContainerDelete";
inline constexpr const char* kRun =
    "AOTInductorModelContainerRunSingleThreaded";
inline constexpr const char* kGetNumInputs =
    "AOTInductorModelContainerGetNumInputs";
inline constexpr const char* kGetNumOutputs =
    "AOTInductorModelContainerGetNumOutputs";
inline constexpr const char* kGetInputName =
    "AOTInductorModelContainerGetInputName";
inline constexpr const char* kGetOutputName =
    "AOTInductorModelContainerGetOutputName";
inline constexpr const char* kGetNumConstants =
    "AOTInductorModelContainerGetNumConstants";

// A library without these is still loaded; what they serve is then left out.
inline constexpr const char* kGetConstantDataSize =
    "AOTInductorModelContainerGetConstantDataSize";
inline constexpr const char* kGetConstantFromFolded =
    "AOTInductorModelContainerGetConstantFromFolded";
inline constexpr const char* kExtractConstantsMapEntries =
    "AOTInductorModelContainerExtractConstantsMapEntries";
inline constexpr const char* kUpdateConstantsFromBlob =
    "AOTInductorModelUpdateConstantsFromBlob";
inline constexpr const char* kGetConstantName =
    "AOTInductorModelContainerGetConstantName";
inline constexpr const char* kUpdateUserManagedPairs =
    "AOTInductorModelContainerUpdateUserManagedConstantBufferPairs";
inline constexpr const char* kSwapConstantBuffer =
    "AOTInductorModelContainerSwapConstantBuffer";
inline constexpr const char* kFreeInactiveConstantBuffer =
    "AOTInductorModelContainerFreeInactiveConstantBuffer";
inline constexpr const char* kGetConstantDtype =
    "AOTInductorModelContainerGetConstantDtype";
inline constexpr const char* kGetConstantOriginalFQN =
    "AOTInductorModelContainerGetConstantOriginalFQN";
inline constexpr const char* kGetCallSpec =
    "AOTInductorModelContainerGetCallSpec";
inline constexpr const char* kGetLastError = "AOTInductorGetLastError";

}  // namespace berth::model::abi
