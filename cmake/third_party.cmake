# nlohmann/json, headers only, through one link in the build tree: under Emscripten the host's include directory as a whole
# would bring the host's C library with it. Both builds read the same file.
find_path(LEDGER_JSON_ROOT nlohmann/json.hpp
  PATHS /usr/include /usr/local/include /opt/homebrew/include NO_CMAKE_FIND_ROOT_PATH)
if(NOT LEDGER_JSON_ROOT)
  message(FATAL_ERROR "nlohmann/json.hpp was not found. Debian and Ubuntu: apt install nlohmann-json3-dev")
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/third_party)
file(CREATE_LINK ${LEDGER_JSON_ROOT}/nlohmann ${PROJECT_BINARY_DIR}/third_party/nlohmann SYMBOLIC)
include_directories(SYSTEM ${PROJECT_BINARY_DIR}/third_party)
