"""Names of commands for workspace/executeCommand. They are stable: editors' configurations contain them."""

from __future__ import annotations

MEASURE = "kernelcast.measure"
MEASURE_ALL = "kernelcast.measureAll"
APPLY_AND_MEASURE = "kernelcast.applyAndMeasure"
LIST_FIXES = "kernelcast.listFixes"
MEASURE_SIZES = "kernelcast.measureSizes"
TUNE = "kernelcast.tune"
COMPARE_DEVICES = "kernelcast.compareDevices"
CHOOSE_DEVICE = "kernelcast.chooseDevice"
CALIBRATE = "kernelcast.calibrate"
LEARN = "kernelcast.learn"
WRITE_ANNOTATION = "kernelcast.writeAnnotation"
LIST_KERNELS = "kernelcast.listKernels"
LIST_DEVICES = "kernelcast.listDevices"
DEBUG_INFORMATION = "kernelcast.debugInformation"
REPORT = "kernelcast.report"
