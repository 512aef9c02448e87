# Compiler flags of every room; a room adds its own only where it must (tests: exceptions, wasm: size).

# -ffp-contract=off keeps native and wasm reports identical to the byte on every processor.
add_compile_options(-fno-exceptions -fno-rtti -ffp-contract=off)

# Designated initialisers leave out what has a default; -Wextra would warn at each of them.
add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wfloat-conversion -Wcast-qual -Wextra-semi -Wnon-virtual-dtor
  -Wundef -Wunused -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns about std::string's own code (GCC bugs 105651 and 105329): hence four that clang is left to judge.
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                      -Wno-attributes=clang::)
endif()
if(LEDGER_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(LEDGER_SANITIZE)
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${sanitize} -fno-sanitize=vptr)
  add_link_options(${sanitize})
  add_compile_definitions(LEDGER_SANITIZE)
endif()

if(LEDGER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "The fuzz target needs clang: libFuzzer is part of it.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# -Oz measured against -O2 and -O3: see wasm/CMakeLists.txt.
if(EMSCRIPTEN)
  set(LEDGER_WASM_OPTIMISE "-Oz" CACHE STRING "Optimisation level of the WebAssembly build")
  set(CMAKE_CXX_FLAGS_RELEASE "-DNDEBUG")
  # emcc forbids the compiler to inline anything at this level, which makes calls of functions that only
  # hand on a value; binaryen does not undo all of them.
  add_compile_options(${LEDGER_WASM_OPTIMISE} -finline-functions -flto)
endif()
