# Toolchain file that finds Emscripten's own one, so that `cmake --preset wasm` works with whichever emcc is first on the path.
find_program(LEDGER_EM_CONFIG em-config)
if(NOT LEDGER_EM_CONFIG)
  message(FATAL_ERROR "em-config was not found. Debian and Ubuntu: apt install emscripten")
endif()
if(NOT DEFINED EMSCRIPTEN_ROOT_PATH)
  execute_process(COMMAND ${LEDGER_EM_CONFIG} EMSCRIPTEN_ROOT
    OUTPUT_VARIABLE EMSCRIPTEN_ROOT_PATH OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
